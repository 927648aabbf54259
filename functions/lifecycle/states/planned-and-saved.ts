import { enterState, type WaitingTask } from '#lifecycle/phases/progress.ts';
import { keepSavedPlan } from '#resources/runs/saved-plans.ts';

/** Keeps the plan until a user confirms or discards it, or the state changes. */
export const handler = async ({ runId, ...attempt }: WaitingTask): Promise<void> => {
  await keepSavedPlan(await enterState(runId, 'PlannedAndSaved', attempt));
};
