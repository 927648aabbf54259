import { dryRunById, settleDryRun } from '../templates/dry-runs.ts';
import { ending, planning, type ReadJobLog, setUp } from './job-log.ts';

/** Log of a dry run, by the ids of its version and its job. */
export const logOfDryRun: ReadJobLog = async (id) => {
  const [versionId = '', jobId = ''] = id.split(' ');
  const current = await dryRunById(versionId, jobId);
  if (!current) return undefined;
  const { dryRun, runs } = await settleDryRun(current);
  return {
    isComplete: dryRun.completedAt !== undefined,
    parts: [setUp(dryRun.createdAt), ...planning('Detecting persistent resources', runs[0]), ...ending(dryRun)],
  };
};
