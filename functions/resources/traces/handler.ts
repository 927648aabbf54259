import { environment } from '#platform/environment.ts';
import { getTaskResult, type TaskResult } from '#resources/run-tasks/results.ts';
import { getRun } from '#resources/runs/records.ts';
import { organizationNameOf, type Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { exportRequest } from './otlp.ts';
import { resourceSpans } from './resource-spans.ts';
import { sendTrace } from './send.ts';
import { traceSpans } from './spans.ts';

/**
 * Sends the trace of a run that has ended. A repeated trace has the same ids. Reads the run, the results of its tasks
 * and its logs.
 */
export const handler = async ({ runId }: { runId: string }): Promise<void> => {
  const run = await getRun(runId);
  if (!run || !isFinal(run.status)) return;
  const [tasks, plan, apply] = await Promise.all([
    tasksOf(run),
    resourceSpans(run, 'plan'),
    resourceSpans(run, 'apply'),
  ]);
  const url = `${environment.publicUrl}/app/${organizationNameOf(run)}/workspaces/${run.workspaceName}/runs/${run.id}`;
  await sendTrace(exportRequest(run.id, traceSpans({ run, tasks, resources: { plan, apply }, url })));
};

const tasksOf = async ({ checks }: Run): Promise<TaskResult[]> => {
  const ids = Object.values(checks?.tasks ?? {}).flatMap(({ taskResultIds }) => taskResultIds);
  const results = await Promise.all(ids.map(getTaskResult));
  return results.filter((result) => result !== undefined);
};
