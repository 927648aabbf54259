import type { Tone } from '../run/display.ts';

/** The tab's icon, with a spot in the colour of how a run is getting on. */

const colours: Record<Tone, string> = {
  attention: '#e8a200',
  running: '#2f7de1',
  waiting: '#8a8a94',
  bad: '#d92d20',
  good: '#1a9e55',
  neutral: '#8a8a94',
};

let plain: string | undefined;

const drawn = (tone: Tone): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4a3fd4"/><path d="M6 24h7v-5.5h6.5V13H26V8" fill="none" stroke="#fff" stroke-width="3.2" stroke-linejoin="round" stroke-linecap="round"/><circle cx="24" cy="24" r="7.5" fill="${colours[tone]}" stroke="#fff" stroke-width="2"/></svg>`,
  )}`;

export const showTone = (tone: Tone | undefined): void => {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (!link) return;
  plain ??= link.href;
  link.href = tone === undefined ? plain : drawn(tone);
};
