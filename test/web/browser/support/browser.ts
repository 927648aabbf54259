import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Debian's chromium, or the one that CHROMIUM names. Without network of its own. */
export const launchBrowser = (): Promise<Browser> => {
  const executablePath = places.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error('There is no chromium: apt-get install chromium, or set CHROMIUM to its path.');
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
};
