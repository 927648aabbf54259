import { notify } from '#lifecycle/phases/notifications.ts';
import { newClaim } from '#lifecycle/phases/phases.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { needsRunner, refusalOfRun, runContainer, stopRunner } from '#lifecycle/runners/launcher.ts';
import { assignRunner } from '#lifecycle/runners/ready-runners.ts';
import { environment } from '#platform/environment.ts';
import { exitOnEntry, isStopped } from '#run/lifecycle.ts';
import type { Run } from '#run/run.ts';

const starts = (run: Run): boolean =>
  !run.agentPool &&
  !environment.warmRunners &&
  !isStopped(run) &&
  refusalOfRun(run) === undefined &&
  needsRunner(run, 'plan');

/**
 * Starts a runner, reserves a ready one, or queues the plan for an agent; then waits for the claim.
 *
 * A container is started before the run is written, so that one write contains its claim and its ARN. Until that write,
 * the container's claim is rejected with 503 (phases.ts). A container that is not recorded in the run is stopped, or
 * exits when its claim is rejected.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const { secret, set } = newClaim('plan');
  let taskId: string | undefined;
  let refusal: unknown;
  const look = async (before: Run): Promise<void> => {
    // The run's first state sends the notifications of a new run.
    if (!before.wait) await notify(before);
    if (taskId || refusal || !starts(before) || exitOnEntry('PlanQueued', before)) return;
    taskId = await runContainer(runId, `${runId}.plan.${secret}`, before).catch((error) => {
      refusal = error;
      return undefined;
    });
  };
  const extra = (before: Run) => (taskId && starts(before) ? { ...set, 'plan.taskId': taskId } : {});
  const run = await enterState(runId, 'PlanQueued', attempt, { look, extra });
  if (taskId && run.plan.taskId !== taskId) {
    await stopRunner(taskId, 'the run has ended, or another runner has claimed the phase');
  }
  if (run.status !== 'plan_queued' || !needsRunner(run, 'plan')) return;
  // The error makes the state machine retry.
  if (refusal) throw refusal;
  await assignRunner(run, 'plan');
};
