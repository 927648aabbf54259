import { environment } from '../environment.ts';
import { answerWait } from '../orchestration/execution.ts';
import { needsRunner, startRunner } from '../orchestration/launcher.ts';
import { notify } from '../orchestration/notifications.ts';
import { newClaim } from '../orchestration/phases.ts';
import type { WaitingTask } from '../orchestration/progress.ts';
import { awaitsTurn, enterInTurn } from '../orchestration/turns.ts';
import { launchFirst } from '../orchestration/warm-offers.ts';
import type { Run } from '../run/run.ts';

/** Other runs come first. */
class NotItsTurn extends Error {}

/**
 * The first state: takes the run's turn, or leaves for Pending, where runs wait for it. Then starts a runner or takes one
 * that stands ready, or queues the plan for an agent, and waits for the claim. Exits early if another state comes first.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const { secret, set } = newClaim('plan');
  const starts = (run: Run) => !run.agentPool && !environment.warmRunners;
  const look = async (before: Run): Promise<void> => {
    if (before.status === 'pending' && awaitsTurn(before)) throw new NotItsTurn();
    // Nobody has told of the new run yet: Pending does, where it comes first.
    if (!before.wait) await notify(before);
  };
  const extra = (before: Run) => (needsRunner(before, 'plan') && starts(before) ? set : {});
  try {
    const run = await enterInTurn(runId, 'PlanQueued', attempt, { look, extra });
    if (run.status !== 'plan_queued' || !needsRunner(run, 'plan')) return;
    await (starts(run) ? startRunner(run, 'plan', secret) : launchFirst(run, 'plan'));
  } catch (error) {
    if (!(error instanceof NotItsTurn)) throw error;
    // An answer and no error: operators are told of functions that fail.
    await answerWait(attempt.token, { error: 'Pending', cause: 'other runs of the workspace come first' });
  }
};
