import { recheckAutomaticApply } from '#lifecycle/decisions/automatic-apply.ts';
import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { endHold } from '#lifecycle/runners/runner-stopped.ts';
import { launchFirst } from '#lifecycle/runners/warm-offers.ts';

/** Minimum lease left for a standing-by runner to be offered the apply. */
const marginMs = 3_000;

/** In the state ApplyUnclaimed `isUnclaimed`: the time for an offer is over. */
type ApplyTask = WaitingTask & { isUnclaimed?: true };

/**
 * Offers the apply to the runner that stands by after the plan; without one, takes one that stands ready or starts one.
 * Exits early if another state comes first, e.g. a confirmation because the run's authors may not apply any more.
 */
export const handler = async ({ runId, isUnclaimed, ...attempt }: ApplyTask): Promise<void> => {
  const now = new Date();
  const run = await enterState(runId, 'ApplyQueued', attempt, {
    recheck: recheckAutomaticApply,
    extra: ({ plan }) =>
      !isUnclaimed && plan.heldUntil && Date.parse(plan.heldUntil) > now.getTime() + marginMs
        ? { 'apply.offeredAt': now.toISOString() }
        : {},
  });
  if (run.status !== 'apply_queued') return;
  if (!run.apply.offeredAt) await launchFirst(run, 'apply');
  else if (isUnclaimed) await endHold(run);
};
