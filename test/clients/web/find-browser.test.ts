import { afterEach, expect, it, vi } from 'vitest';
import { findBrowser, NoBrowserError } from './browser/support/find-browser.ts';

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['none', /^No browser: STEPFORM_BROWSER is none$/],
  ['/nosuch/chromium', /^No browser: STEPFORM_BROWSER is \/nosuch\/chromium; .*doesn't exist/],
  [process.execPath, /^No browser: STEPFORM_BROWSER is .*node; ./],
])('no browser is found with STEPFORM_BROWSER=%s', async (choice, message) => {
  vi.stubEnv('STEPFORM_BROWSER', choice);
  const error = await findBrowser().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(NoBrowserError);
  expect((error as Error).message).toMatch(message);
});
