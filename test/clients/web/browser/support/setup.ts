import type { TestProject } from 'vitest/node';
import startPlatform from '#test/e2e/support/setup.ts';
import { type Browser, findBrowser, NoBrowserError } from './find-browser.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Why there is none, when it is a text: the tests of the page are skipped then. */
    browser: Browser | string;
  }
}

/** A browser and a platform; neither when no browser can be had on this machine. */
export default async (project: TestProject) => {
  try {
    project.provide('browser', await findBrowser());
  } catch (error) {
    if (!(error instanceof NoBrowserError)) throw error;
    project.provide('browser', error.message);
    // Test files read it while they are collected.
    project.provide('platform', { url: 'http://platform.invalid', organization: '', token: '' });
    return undefined;
  }
  return startPlatform(project);
};
