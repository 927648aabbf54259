import { type Browser, chromium } from 'playwright-core';

/** Starts a headless Chromium without network access of its own. find-browser.ts selects it. */
export const startBrowser = ({ executablePath }: { executablePath: string | undefined }): Promise<Browser> =>
  chromium.launch({ executablePath, headless: true, args: ['--disable-gpu', '--disable-quic'] });
