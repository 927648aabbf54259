import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { endHold } from '#lifecycle/runners/runner-stopped.ts';
import { launchFirst } from '#lifecycle/runners/warm-offers.ts';

/** Minimum lease left for a standing-by runner to be offered the apply. */
const marginMs = 3_000;

/** `isOffer` in the state ApplyOffered. */
type ApplyTask = WaitingTask & { isOffer?: true };

/**
 * ApplyOffered offers the apply to the runner that stands by after the plan. ApplyQueued withdraws an offer that was
 * not taken. Without an offer, both use a ready runner, or start one.
 */
export const handler = async ({ runId, isOffer, ...attempt }: ApplyTask): Promise<void> => {
  const now = new Date();
  const run = await enterState(runId, 'ApplyQueued', attempt, {
    extra: ({ plan }) =>
      isOffer && plan.heldUntil && Date.parse(plan.heldUntil) > now.getTime() + marginMs
        ? { 'apply.offeredAt': now.toISOString() }
        : {},
  });
  if (run.status !== 'apply_queued') return;
  if (!run.apply.offeredAt) await launchFirst(run, 'apply');
  else if (!isOffer) await endHold(run);
};
