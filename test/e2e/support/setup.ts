import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '#infra/build/synth.ts';
import { checkDecisions } from './foreign-iam.ts';
import { type Local, PlatformProcess } from './platform.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `dataDir`: folder with the logs of a platform on this machine. */
    platform: Pick<Local, 'url' | 'organization' | 'token'> & Partial<Local> & { dataDir?: string };
  }
}

/**
 * The platform under test: from STEPFORM_E2E (a `local.json`, or a handwritten one for a deployment on AWS: url,
 * organization, token), otherwise one started for this run.
 */
export default async (project: TestProject) => {
  const existing = process.env.STEPFORM_E2E;
  if (existing) {
    const local = JSON.parse(readFileSync(existing, 'utf8')) as Local;
    project.provide('platform', { ...local, dataDir: dirname(existing) });
    return;
  }
  const decisions = join(tmpdir(), 'decisions.jsonl');
  const platform = await PlatformProcess.start({ STEPFORM_RECORD_DECISIONS: decisions });
  process.env.STEPFORM_TEST_TLS = join(platform.dataDir, 'tls');
  project.provide('platform', { ...platform.local, dataDir: platform.dataDir });
  return async () => {
    await platform.remove();
    await checkDecisions(decisions, (await synthesize()).template);
  };
};
