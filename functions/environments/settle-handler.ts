import { pushLog } from '#resources/runs/log-followers.ts';
import { getRun } from '#resources/runs/records.ts';
import { getBuild } from './builds/records.ts';
import { settleBuild } from './builds/settle.ts';
import { dryRunById, settleDryRun } from './templates/dry-runs.ts';
import { settleVersion } from './templates/import.ts';
import { getVersion } from './templates/versions.ts';

/** Invoked when a run of a build, an import or a dry run has ended. Can be repeated. */
export const handler = async ({ runId }: { runId: string }): Promise<void> => {
  const run = await getRun(runId);
  const [kind, id = '', jobId = ''] = run?.environment?.split(' ') ?? [];
  if (kind === 'build') {
    const build = await getBuild(id);
    if (build) await settleBuild(build);
  }
  if (kind === 'version') {
    const version = await getVersion(id);
    if (version) await settleVersion(version);
  }
  if (kind === 'dry-run') {
    const dryRun = await dryRunById(id, jobId);
    if (dryRun) await settleDryRun(dryRun);
  }
  // Its log is complete now, also if another reader recorded the result.
  if (run) await pushLog(run);
};
