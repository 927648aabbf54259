import { pushLog } from '#resources/runs/log-followers.ts';
import { getRun } from '#resources/runs/records.ts';
import { jobLog } from './logs/jobs.ts';
import type { JobKind } from './logs/tickets.ts';

/** Invoked when a run of a build, an import or a dry run has ended. Can be repeated. */
export const handler = async ({ runId }: { runId: string }): Promise<void> => {
  const run = await getRun(runId);
  if (!run?.environment) return;
  const [kind, ...id] = run.environment.split(' ');
  // Like every reader of a job, the reader of its log records its end.
  await jobLog(kind as JobKind, id.join(' '));
  // The log is complete now, also if another reader recorded the result.
  await pushLog(run);
};
