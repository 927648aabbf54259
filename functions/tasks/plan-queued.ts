import { needsRunner, newClaim, startRunner } from '../store/runs/launcher.ts';
import { enterState } from '../store/runs/run-states.ts';
import type { WaitingTask } from './waiting.ts';

/** Starts a runner and waits until it claims the plan; or says what comes first. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const { secret, set } = newClaim('plan');
  const run = await enterState(runId, 'PlanQueued', attempt, (before) => (needsRunner(before, 'plan') ? set : {}));
  if (run.status === 'plan_queued' && needsRunner(run, 'plan')) await startRunner(run, 'plan', secret);
};
