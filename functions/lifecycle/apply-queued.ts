import { recheckAutomaticApply } from '../orchestration/automatic-apply.ts';
import { launchRunner } from '../orchestration/launcher.ts';
import { enterState } from '../orchestration/progress.ts';
import type { WaitingTask } from './waiting.ts';

/** A runner standing by must have at least so long left to be offered the apply. */
const marginMs = 3_000;

/**
 * Offers the apply to the runner that stands by since the plan; without one, starts a runner. Or says what comes first: a
 * confirmation too, where those who started the run may not apply any more.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const now = new Date();
  const run = await enterState(runId, 'ApplyQueued', attempt, {
    recheck: recheckAutomaticApply,
    extra: ({ plan }) =>
      plan.heldUntil && Date.parse(plan.heldUntil) > now.getTime() + marginMs
        ? { 'apply.offeredAt': now.toISOString() }
        : {},
  });
  if (run.status === 'apply_queued' && !run.apply.offeredAt) await launchRunner(run, 'apply');
};
