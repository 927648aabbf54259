import type { Tone } from '../run/display.ts';

/** The tab's icon with a spot in the color of a run's status: icon.svg has one for each, shown by the fragment of its address. */
export const showTone = (tone: Tone | undefined): void => {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (!link) return;
  const [plain = ''] = link.href.split('#');
  link.href = tone === undefined ? plain : `${plain}#${tone}`;
};
