import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startBrowser } from './browser.ts';
import { isNpmBrowserForThisMachine, npmBrowser } from './npm-browser.ts';

/**
 * Finds a browser on any machine: an installed one, otherwise a build from the npm registry, otherwise Playwright's own
 * download.
 */

/** Path of an executable; undefined = Playwright's own. */
export interface Browser {
  executablePath: string | undefined;
}

type Tell = (text: string) => void;

const onPath = (names: string[]): string[] =>
  names.flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)));

const installed = (): string[] => {
  if (process.platform === 'darwin')
    return ['Google Chrome', 'Chromium', 'Microsoft Edge'].map(
      (app) => `/Applications/${app}.app/Contents/MacOS/${app}`,
    );
  if (process.platform === 'win32')
    return [process.env.PROGRAMFILES, process.env['PROGRAMFILES(X86)'], process.env.LOCALAPPDATA].flatMap((folder) =>
      folder
        ? ['Google/Chrome/Application/chrome.exe', 'Microsoft/Edge/Application/msedge.exe'].map((app) =>
            join(folder, app),
          )
        : [],
    );
  return onPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge']);
};

const downloadMs = 5 * 60_000;

const playwrightBrowser = async (tell: Tell): Promise<undefined> => {
  tell('Downloading a browser with Playwright for the tests of the page …');
  const cli = join(dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'cli.js');
  await promisify(execFile)(process.execPath, [cli, 'install', '--only-shell', 'chromium'], { timeout: downloadMs });
};

type Source = (tell: Tell) => Promise<string | undefined>;

/** Sources by the values of STEPFORM_BROWSER. */
const sources: Record<string, () => Source[]> = {
  installed: () =>
    installed()
      .filter((path) => existsSync(path))
      .map((path) => async () => path),
  npm: () => (isNpmBrowserForThisMachine ? [npmBrowser] : []),
  playwright: () => [playwrightBrowser],
};

const chosen = (): Source[] => {
  const choice = process.env.STEPFORM_BROWSER;
  if (choice === 'none') return [];
  if (!choice) return Object.values(sources).flatMap((list) => list());
  return sources[choice]?.() ?? [async () => choice];
};

export class NoBrowserError extends Error {
  override name = 'NoBrowserError';
}

/** The error output of a failed program, without call stacks and boxes. */
const reasonOf = (error: unknown): string => {
  const { stderr, message } = error as { stderr?: string; message: string };
  return (stderr?.trim() || message).split('\n')[0] ?? '';
};

/**
 * The first browser that starts. STEPFORM_BROWSER chooses: the path of an executable, `installed`, `npm`, `playwright`
 * or `none`.
 * @throws {NoBrowserError} with all attempts
 */
export const findBrowser = async (tell: Tell = console.error): Promise<Browser> => {
  const failures: string[] = [];
  for (const source of chosen()) {
    try {
      const executablePath = await source(tell);
      await (await startBrowser({ executablePath })).close();
      return { executablePath };
    } catch (error) {
      failures.push(reasonOf(error));
    }
  }
  const tried = process.env.STEPFORM_BROWSER
    ? `STEPFORM_BROWSER is ${process.env.STEPFORM_BROWSER}`
    : 'none is installed';
  throw new NoBrowserError([`No browser: ${tried}`, ...failures].join('; '));
};
