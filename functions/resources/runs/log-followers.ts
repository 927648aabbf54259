import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { keys } from '#platform/store/keys.ts';
import { logError } from '#platform/store/log.ts';
import { query } from '#platform/store/table.ts';
import type { Run } from '#run/run.ts';

/** Followers of the logs of environments: new lines are pushed to them from where they arrive (decisions/0233). */

/** Has new lines sent to the followers of the run's job. A failure is logged; the sweep repeats it within minutes. */
export const pushLog = async ({ id, environment: job }: Pick<Run, 'id' | 'environment'>): Promise<void> => {
  if (!job) return;
  try {
    await invokeLater(environment.environmentLogsFunction, { job });
  } catch (error) {
    logError('log not pushed', error, { runId: id });
  }
};

/** As {@link pushLog}, for frequent calls: an eventually consistent read for a run of an environment, else nothing. */
export const pushIfFollowed = async (run: Pick<Run, 'id' | 'environment'>): Promise<void> => {
  if (!run.environment) return;
  const { pk } = keys.logFollower(run.environment, '');
  if ((await query({ pk, limit: 1, consistent: false })).length > 0) await pushLog(run);
};
