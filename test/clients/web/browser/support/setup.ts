import type { TestProject } from 'vitest/node';
import startPlatform from '#test/e2e/support/setup.ts';
import { type Browser, findBrowser, NoBrowserError } from './find-browser.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A text is the reason why there is none: the tests of the page are skipped then. */
    browser: Browser | string;
  }
}

/** Starts a browser and a platform; neither if this machine can have no browser. */
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
