import { readFileSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { type Local, PlatformProcess } from './platform.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    platform: Pick<Local, 'url' | 'organization' | 'token'> & Partial<Local>;
  }
}

/**
 * The platform under test: one that STEPFORM_E2E names (a `local.json`, or one written by hand for a deployment on
 * AWS: url, organization, token), else one started for this run.
 */
export default async (project: TestProject) => {
  const given = process.env.STEPFORM_E2E;
  if (given) {
    project.provide('platform', JSON.parse(readFileSync(given, 'utf8')) as Local);
    return;
  }
  const platform = await PlatformProcess.start();
  project.provide('platform', platform.local);
  return () => platform.remove();
};
