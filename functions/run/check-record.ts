import type { Overridable, Timestamp } from './status.ts';

/** API `stage` of a task stage, in their order. */
export const taskStages = ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'] as const;

export type TaskStage = (typeof taskStages)[number];

/** Which tasks a run has is fixed when it is created. */
export interface FrozenTaskStage {
  id: string;
  taskResultIds: string[];
}

export type FrozenTaskStages = Partial<Record<TaskStage, FrozenTaskStage>>;

/** The checks of a run besides plan, confirmation and apply; the cost estimate is on the run itself. */
export interface Checks {
  /** Its configuration version was not uploaded yet. */
  fetching?: true;
  /** Run tasks that were enabled when it was created. */
  tasks?: FrozenTaskStages;
  /** Some policy set is evaluated by OPA at post-plan. */
  policyEvaluation?: true;
  /** Some policy set is evaluated in the policy check. */
  policyCheck?: true;
}

/** The result of each, once it is over. */
export interface Verdicts extends Partial<Record<TaskStage, 'passed' | 'failed'>> {
  fetching?: 'passed' | 'failed';
  /** `overridable`: mandatory policies failed, and every set they are in may be overridden. */
  policyEvaluation?: 'passed' | 'overridable' | 'failed';
  policyCheck?: 'passed' | 'soft_failed' | 'hard_failed';
}

/** Overrides of failed policies. */
export type Overrides = Partial<Record<Overridable, { by: string; at: Timestamp; comment?: string }>>;
