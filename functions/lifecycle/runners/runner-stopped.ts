import { getRun, updateRun } from '#resources/runs/records.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { launchRunner } from './launcher.ts';
import { endPhase } from './lost-runners.ts';
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
 * A runner's container stopped. Nothing to do if it had reported. If it stood by, the apply that it was offered goes
 * to another runner. If it was running a phase, the phase errors at once instead of at the next missed heartbeat.
 */
export const handler = async ({ detail }: TaskStopped): Promise<void> => {
  const { startedBy = '' } = detail;
  const warm = isWarmRunner(startedBy);
  const runId = warm ? (await getWarmRunner(startedBy))?.reserved?.runId : startedBy;
  const run = runId ? await getRun(runId) : undefined;
  if (run && !isFinal(run.status)) await endWork(run, detail);
  if (warm) await retire(startedBy);
};

const endWork = async (run: Run, detail: TaskStopped['detail']): Promise<void> => {
  for (const phase of ['plan', 'apply'] as const) {
    if (run[phase].taskArn === detail.taskArn && !run[phase].report) await endPhase(run, phase, reasonOf(detail));
  }
  if (run.plan.taskArn === detail.taskArn && run.plan.heldUntil) await endHold(run);
};

const reasonOf = ({ containers, stoppedReason }: TaskStopped['detail']): string => {
  const exit = containers?.[0];
  const code = exit?.exitCode;
  return [stoppedReason, exit?.reason, code !== undefined && `exit code ${code}`].filter(Boolean).join('; ');
};

/** Withdraws the offer to the stopped runner, and starts another one. */
export const endHold = async (run: Run): Promise<void> => {
  const withdrawn = await updateRun(run.id, {
    remove: ['plan.heldUntil', 'apply.offeredAt'],
    condition: 'attribute_not_exists(apply.claimNonce)',
  });
  if (withdrawn?.status === 'apply_queued') await launchRunner(withdrawn, 'apply');
};
