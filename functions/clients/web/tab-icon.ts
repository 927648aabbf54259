import type { Tone } from '#run/display.ts';

/** The tab icon with a dot in the color of a run's status: icon.svg contains all of them, selected by the URL's fragment. */
export const showTone = (tone: Tone | undefined): void => {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (!link) return;
  const [plain = ''] = link.href.split('#');
  link.href = tone === undefined ? plain : `${plain}#${tone}`;
};
