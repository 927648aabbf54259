import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Local } from '#infra/local/host/folder.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { programName } from './program-name.ts';

/**
 * `stepform recover <time>`: invokes the Recover function of the running platform, after its table was restored to that
 * time. Environment: STEPFORM_DATA.
 */

const [restoredTo] = process.argv.slice(2);
const dataDir = resolve(process.env.STEPFORM_DATA || '.stepform');

const invoke = async (): Promise<{ done?: boolean; errorMessage?: string }> => {
  const local = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as Local;
  const response = await operatorFetch(local, '/2015-03-31/functions/RecoverFunction/invocations', {
    method: 'POST',
    body: JSON.stringify({ restoredTo }),
    service: 'lambda',
  });
  return (await response.json()) as { done?: boolean; errorMessage?: string };
};

if (!restoredTo || Number.isNaN(Date.parse(restoredTo))) {
  console.error(`Give the time of the backup: ${programName} recover 2026-01-31T08:00:00Z`);
  process.exit(2);
}

try {
  const answer = await invoke();
  console.log(JSON.stringify(answer, null, 2));
  if (!answer.done) process.exitCode = 1;
} catch (error) {
  console.error(
    `Can’t reach a platform on ${dataDir}. Start it first: ${programName} start (${(error as Error).message})`,
  );
  process.exitCode = 1;
}
