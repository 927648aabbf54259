import { environment } from '../environment.ts';
import { needsRunner, startRunner } from '../orchestration/launcher.ts';
import { newClaim } from '../orchestration/phases.ts';
import { enterState, type WaitingTask } from '../orchestration/progress.ts';
import { launchFirst } from '../orchestration/warm-offers.ts';
import type { Run } from '../run/run.ts';

/**
 * Starts a runner or takes one that stands ready, or queues the plan for an agent, and waits for the claim. Exits early if
 * another state comes first.
 */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  const { secret, set } = newClaim('plan');
  const starts = (run: Run) => !run.agentPool && !environment.warmRunners;
  const run = await enterState(runId, 'PlanQueued', attempt, {
    extra: (before) => (needsRunner(before, 'plan') && starts(before) ? set : {}),
  });
  if (run.status !== 'plan_queued' || !needsRunner(run, 'plan')) return;
  await (starts(run) ? startRunner(run, 'plan', secret) : launchFirst(run, 'plan'));
};
