import type { Overridable, Timestamp } from './status.ts';

/** API `stage` of a task stage, in their order. */
export const taskStages = ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'] as const;

export type TaskStage = (typeof taskStages)[number];

/** The tasks of a run, fixed when it is created. */
export interface FrozenTaskStage {
  id: string;
  taskResultIds: string[];
}

export type FrozenTaskStages = Partial<Record<TaskStage, FrozenTaskStage>>;

/** The checks of a run besides plan, confirmation and apply; the cost estimate is on the run itself. */
export interface Checks {
  /** The configuration version was not uploaded yet when the run was created. */
  fetching?: true;
  /** Run tasks that were enabled when the run was created. */
  tasks?: FrozenTaskStages;
  /** At least one policy set is evaluated by OPA at post-plan. */
  policyEvaluation?: true;
  /** At least one policy set is evaluated in the policy check. */
  policyCheck?: true;
}

/** Result of each completed check. */
export interface Verdicts extends Partial<Record<TaskStage, 'passed' | 'failed'>> {
  fetching?: 'passed' | 'failed';
  /** `overridable`: mandatory policies failed, and every set they are in may be overridden. */
  policyEvaluation?: 'passed' | 'overridable' | 'failed';
  policyCheck?: 'passed' | 'soft_failed' | 'hard_failed';
}

/** Overrides of failed policies. */
export type Overrides = Partial<Record<Overridable, { by: string; at: Timestamp; comment?: string }>>;
