import { recheckAutomaticApply } from '../orchestration/automatic-apply.ts';
import { enterState, type WaitingTask } from '../orchestration/progress.ts';
import { launchFirst } from '../orchestration/warm-offers.ts';

/** Minimum lease left for a standing-by runner to be offered the apply. */
const marginMs = 3_000;

/**
 * Offers the apply to the runner that stands by after the plan; without one, takes one that stands ready or starts one.
 * Exits early if another state comes first, e.g. a confirmation because the run's authors may not apply any more.
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
  if (run.status === 'apply_queued' && !run.apply.offeredAt) await launchFirst(run, 'apply');
};
