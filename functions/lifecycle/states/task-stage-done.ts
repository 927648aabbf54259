import { nextOutput, RunNotInStateError, recordVerdict } from '#lifecycle/phases/progress.ts';
import { listTaskResults } from '#resources/run-tasks/stages.ts';
import { getRun } from '#resources/runs/records.ts';
import type { TaskStage } from '#run/check-record.ts';
import type { Next } from '#run/lifecycle.ts';
import type { Run } from '#run/run.ts';
import { stageVerdict } from '#run/task-stages.ts';

export interface TaskStageDone {
  runId: string;
  stage: TaskStage;
}

/** All tasks of the stage have results: decides whether the run continues. */
export const handler = async ({ runId, stage }: TaskStageDone): Promise<{ next: Next }> => {
  const run = await getRun(runId);
  if (!run) throw new RunNotInStateError(runId, stage, 'unknown');
  const { verdict, message, failed } = stageVerdict(await listTaskResults(run, stage));
  return nextOutput(await recordVerdict(run, stage, verdict, reason(run, verdict, message), failed));
};

const reason = (run: Run, verdict: 'passed' | 'failed', message: string | undefined): string | undefined =>
  verdict === 'failed' && message ? `${message[0]?.toUpperCase()}${message.slice(1)}.` : run.failure;
