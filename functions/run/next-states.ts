import type { Next } from './lifecycle.ts';

/** States that may follow a plan or a check. Each list is in the order of the lifecycle and never leads back. */

const resting = ['PlannedAndFinished', 'PlannedAndSaved', 'NeedsConfirmation', 'ApplyQueued'] as const satisfies Next[];

export const nextStates = {
  Planning: ['PostPlanTasks', 'PolicyEvaluating', 'CostEstimating', 'PolicyChecking', ...resting],
  PostPlanTasks: ['PolicyEvaluating', 'CostEstimating', 'PolicyChecking', ...resting, 'PlanErrored', 'Canceled'],
  PolicyEvaluating: [
    'PostPlanAwaitingDecision',
    'CostEstimating',
    'PolicyChecking',
    ...resting,
    'PlanErrored',
    'Canceled',
  ],
  PostPlanAwaitingDecision: ['CostEstimating', 'PolicyChecking', ...resting],
  CostEstimating: ['PolicyChecking', ...resting, 'Canceled'],
  PolicyChecking: ['PolicyOverride', ...resting, 'PolicySoftFailed', 'PlanErrored', 'Canceled'],
  PolicyOverride: resting,
} as const satisfies Record<string, readonly Next[]>;
