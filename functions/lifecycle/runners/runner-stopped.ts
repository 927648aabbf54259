import { returnSlotsOf } from '#lifecycle/slots/slots.ts';
import { getRun } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { taskIdOf } from './launcher.ts';
import { endPhase, forgetReady } from './lost-runners.ts';
import { getWarmRunner, isWarmRunner, retire } from './warm-runners.ts';

/** Detail of EventBridge's "ECS Task State Change" with lastStatus STOPPED. */
interface TaskStopped {
  detail: {
    taskArn: string;
    startedBy?: string;
    stoppedReason?: string;
    stopCode?: string;
    containers?: { exitCode?: number; reason?: string }[];
  };
}

/**
 * A runner's container stopped. If it was running a phase, the phase errors at once instead of at the next missed
 * heartbeat. If it was ready for the apply of its plan, another runner applies. Its slot is free.
 */
export const handler = async ({ detail }: TaskStopped): Promise<void> => {
  const { startedBy = '' } = detail;
  const warm = isWarmRunner(startedBy);
  const runId = warm ? (await getWarmRunner(startedBy))?.reserved?.runId : startedBy;
  const run = runId ? await getRun(runId) : undefined;
  const taskId = taskIdOf(detail.taskArn);
  if (run && !isFinal(run.status)) await endWork(run, taskId, detail);
  if (run) await returnSlotsOf(run, taskId);
  if (warm) await retire(startedBy);
};

const endWork = async (run: Run, taskId: string, detail: TaskStopped['detail']): Promise<void> => {
  for (const phase of ['plan', 'apply'] as const) {
    if (run[phase].taskId === taskId && !run[phase].report) await endPhase(run, phase, reasonOf(detail));
  }
  if (run.plan.taskId === taskId && run.plan.ready) await forgetReady(run);
};

const reasonOf = ({ containers, stoppedReason }: TaskStopped['detail']): string => {
  const exit = containers?.[0];
  const code = exit?.exitCode;
  return [stoppedReason, exit?.reason, code !== undefined && `exit code ${code}`].filter(Boolean).join('; ');
};
