import { stateNote } from '../run/ending.ts';
import type { PhaseName, Run } from '../run/run.ts';
import { isFinal } from '../run/status.ts';
import { deliver } from '../store/runs/execution.ts';
import { recordedResources } from '../store/runs/finish.ts';
import { launchRunner } from '../store/runs/launcher.ts';
import { getRun, updateRun } from '../store/runs/runs.ts';

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
 * A runner's container is gone. One that had reported is nothing new; one that stood by will apply nothing, so the
 * apply it was offered goes to another; one that was at work leaves its phase errored at once instead of at the next
 * missed beat.
 */
export const handler = async ({ detail }: TaskStopped): Promise<void> => {
  const run = detail.startedBy ? await getRun(detail.startedBy) : undefined;
  if (!run || isFinal(run.status)) return;
  for (const phase of ['plan', 'apply'] as const) {
    if (run[phase].taskArn === detail.taskArn && !run[phase].report) await endPhase(run, phase, detail);
  }
  if (run.plan.taskArn === detail.taskArn && run.plan.heldUntil) await endHold(run);
};

const endPhase = async (run: Run, phase: PhaseName, detail: TaskStopped['detail']): Promise<void> => {
  const exit = detail.containers?.[0];
  const why = [detail.stoppedReason, exit?.reason, exit?.exitCode !== undefined && `exit code ${exit.exitCode}`].filter(
    Boolean,
  );
  const note = stateNote(run, phase === 'apply' ? await recordedResources(run.workspaceId) : undefined);
  const message = `The runner stopped during the ${phase} (${why.join('; ')}). ${note}`;
  const ended = await updateRun(run.id, {
    set: {
      [`${phase}.report`]: {
        outcome: run.cancel ? 'canceled' : 'errored',
        message,
        ...(phase === 'apply' ? { stateProblem: message } : {}),
      },
    },
    condition: `attribute_not_exists(${phase}.report)`,
  });
  if (ended) await deliver(ended);
};

/** Withdraws the offer nobody will take, and starts a runner for it. */
export const endHold = async (run: Run): Promise<void> => {
  const withdrawn = await updateRun(run.id, {
    remove: ['plan.heldUntil', 'apply.offeredAt'],
    condition: 'attribute_not_exists(apply.claimNonce)',
  });
  if (withdrawn?.status === 'apply_queued') await launchRunner(withdrawn, 'apply');
};
