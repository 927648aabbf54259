import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect, inject, type TestContext } from 'vitest';
import type { HeldToken } from '#clients/web/tabs.ts';
import { client, organization, platform } from '#test/e2e/support/world.ts';
import { startBrowser } from './browser.ts';
import type { Browser as Found } from './find-browser.ts';

/** A user at the page. Every browser error, including violations of the content security policy, fails the test. */

export { client, organization, platform };

let browser: Browser | undefined;
const complaints: string[] = [];
const open: Page[] = [];

/**
 * Before the first test of a file (file.ts): files that share a process share a browser, which ends with the process.
 */
export const openBrowser = (): Promise<void> => openBrowserOf(inject('browser') as Found);

/** For tests of another project, which find a browser themselves. */
export const openBrowserOf = async (found: Found): Promise<void> => {
  if (!browser?.isConnected()) browser = await startBrowser(found);
};
export const closeBrowser = async (): Promise<void> => browser?.close();

const failures = join(import.meta.dirname, '../../../../../.build/failures');
const maxTreeLength = 6000;

/** The contents of a failed test's pages: their accessibility trees, and the paths of screenshots. */
const describePages = async (test: string): Promise<void> => {
  mkdirSync(failures, { recursive: true });
  for (const [at, page] of open.entries()) {
    const path = join(failures, `${test.replaceAll(/\W+/g, '-').slice(0, 100)}-${at + 1}.png`);
    const limit = { timeout: 5000 };
    const tree = await page.locator('body').ariaSnapshot(limit).catch(String);
    const shot = await page.screenshot({ path, ...limit }).then(() => path, String);
    console.error(`"${test}" failed at ${page.url()}\nscreenshot: ${shot}\n${tree.slice(0, maxTreeLength)}`);
  }
};

/** After each test. */
export const afterTest = async ({ task }: TestContext): Promise<void> => {
  if (task.result?.state === 'fail') await describePages(task.name);
  await closePages();
};

const closePages = async (): Promise<void> => {
  await Promise.all(open.splice(0).map((page) => page.context().close()));
  expect(complaints.splice(0)).toEqual([]);
};

/** The console also reports expected error responses of a test; any other error fails the test. */
const provoked = /^Failed to load resource: the server responded with a status of (400|401|403|404|409|412|422|507)/;

export const newPage = async (options: BrowserContextOptions = {}): Promise<Page> => {
  if (!browser) throw new Error('no browser was opened');
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
    reducedMotion: 'reduce',
    baseURL: platform.url,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on('console', (message) => {
    const text = message.text();
    if (['error', 'warning'].includes(message.type()) && !provoked.test(text)) complaints.push(text);
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  open.push(page);
  return page;
};

/**
 * Opens the page at a path as a user who has already signed in in this tab (functions/clients/web/tabs.ts): the form
 * would wait for other tabs first, and take as much processor time as the view behind it.
 */
export const visit = async (path: string, options: BrowserContextOptions & { token?: string } = {}): Promise<Page> => {
  const { token = platform.token, ...rest } = options;
  const page = await newPage(rest);
  await page.addInitScript(signedIn, { token, since: Date.now() });
  await page.goto(path);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
};

/** Only once per tab, because the user may sign out later. */
const signedIn = (held: HeldToken): void => {
  // A page without an origin, such as about:blank, has no storage.
  if (window.origin === 'null' || window.name === 'began') return;
  window.name = 'began';
  sessionStorage.setItem('stepform-token', JSON.stringify(held));
};

export const signIn = async (page: Page, token = platform.token): Promise<void> => {
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
};

export const runPath = (workspace: string, run: string): string =>
  `/app/${organization}/workspaces/${workspace}/runs/${run}`;

/** Terraform takes its time on a busy machine: longer than other waits of the page. */
const runMs = 60_000;

export const seesStatus = (page: Page, name: string, timeout = runMs): Promise<void> =>
  page
    .locator('main .status', { hasText: new RegExp(`^${name}$`) })
    .first()
    .waitFor({ timeout });
