import { newClaim } from '../orchestration/claims.ts';
import { launchRunner, needsRunner, startRunner } from '../orchestration/launcher.ts';
import { enterState } from '../orchestration/progress.ts';
import type { WaitingTask } from './waiting.ts';

/** Starts a runner, or queues the plan for an agent, and waits for the claim. Exits early if another state comes first. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const { secret, set } = newClaim('plan');
  const run = await enterState(runId, 'PlanQueued', attempt, {
    extra: (before) => (needsRunner(before, 'plan') && !before.agentPool ? set : {}),
  });
  if (run.status !== 'plan_queued' || !needsRunner(run, 'plan')) return;
  await (run.agentPool ? launchRunner(run, 'plan') : startRunner(run, 'plan', secret));
};
