import { type FrozenTaskStages, type TaskStage, taskStages } from './check-record.ts';
import type { Run } from './run.ts';
import { isFinal, type RunStatus, type Timestamp } from './status.ts';

/**
 * Run tasks of a stage: their combined result, and the statuses of stage and results. A stage has no record of its own:
 * it is derived from the run, so that it changes in the same write as the run's status, on which clients depend. Pure.
 */

export const enforcementLevels = ['advisory', 'mandatory'] as const;

export type EnforcementLevel = (typeof enforcementLevels)[number];

/** Statuses that a run task can report. */
export const reportedStatuses = ['running', 'passed', 'failed'] as const;

export type ReportedStatus = (typeof reportedStatuses)[number];

export type TaskResultStatus = 'pending' | ReportedStatus | 'errored' | 'canceled' | 'unreachable';

export type TaskStageStatus = TaskResultStatus | 'awaiting_override';

/** Final statuses. */
export const isResultFinal = (status: TaskResultStatus): boolean => status !== 'pending' && status !== 'running';

/** Levels of an outcome's tags; all but `none` are shown with a color and an icon. */
export const tagLevels = ['none', 'info', 'warning', 'error'] as const;

export type TagLevel = (typeof tagLevels)[number];

export interface ResultFacts {
  status: TaskResultStatus;
  stage: TaskStage;
  taskName: string;
  enforcementLevel: EnforcementLevel;
}

export interface StageVerdict {
  verdict: 'passed' | 'failed';
  /** Reason for a failure, or a warning despite success; one sentence for users. */
  message?: string;
  /** Names of the tasks that caused the failure. */
  failed?: string[];
}

const named = (results: ResultFacts[]): string => results.map(({ taskName }) => `"${taskName}"`).join(', ');

/**
 * The combined result of one stage: the most restrictive wins. Any result other than `passed` counts as failed. Tasks
 * after an apply can only warn.
 */
export const stageVerdict = (results: ResultFacts[]): StageVerdict => {
  const failed = results.filter(({ status }) => status !== 'passed');
  const binding = failed.filter(
    ({ stage, enforcementLevel }) => stage !== 'post_apply' && enforcementLevel === 'mandatory',
  );
  if (binding.length > 0) {
    const [noun, are] = binding.length === 1 ? ['run task', 'is'] : ['run tasks', 'are'];
    return {
      verdict: 'failed',
      failed: binding.map(({ taskName }) => taskName),
      message: `the run failed because the ${noun} ${named(binding)} ${are} required to succeed`,
    };
  }
  if (failed.length === 0) return { verdict: 'passed' };
  const tasks = failed.length === 1 ? 'the run task' : 'the run tasks';
  return { verdict: 'passed', message: `${tasks} ${named(failed)} did not succeed, but the run continues` };
};

/** The attributes of a run from which its task stages are derived. */
export interface StageFacts extends Pick<Run, 'id' | 'status' | 'statusTimestamps'> {
  checks?: { tasks?: FrozenTaskStages; policyEvaluation?: true };
  verdicts?: Partial<Record<TaskStage, 'passed' | 'failed'>> & { policyEvaluation?: string };
}

/**
 * The run's stages, fixed when it is created. OPA policies are evaluated in the post-plan stage, which also exists
 * without tasks.
 */
export const stagesOf = ({ checks }: Pick<StageFacts, 'checks'>): TaskStage[] =>
  taskStages.filter((stage) => checks?.tasks?.[stage] || (stage === 'post_plan' && checks?.policyEvaluation));

const stamp = (run: StageFacts, stage: TaskStage, moment: 'running' | 'completed'): Timestamp | undefined =>
  run.statusTimestamps[`${stage.replace('_', '-')}-${moment}-at`];

/** Status of a stage that had begun when the run ended. */
const endOf = (status: RunStatus, failed: boolean): TaskStageStatus => {
  if (failed) return 'failed';
  return status === 'errored' ? 'errored' : 'canceled';
};

export const taskStageStatus = (run: StageFacts, stage: TaskStage): TaskStageStatus => {
  const { status, verdicts = {} } = run;
  if (stage === 'post_plan' && status === 'post_plan_awaiting_decision') return 'awaiting_override';
  if (stamp(run, stage, 'completed')) return 'passed';
  const isStarted = stamp(run, stage, 'running') !== undefined;
  if (!isFinal(status)) return isStarted ? 'running' : 'pending';
  if (!isStarted) return 'unreachable';
  const policies = stage === 'post_plan' ? verdicts.policyEvaluation : undefined;
  return endOf(status, verdicts[stage] === 'failed' || policies === 'failed' || policies === 'overridable');
};

/** Time of the stage's status; absent while it is pending. */
export const taskStageTimestamps = (run: StageFacts, stage: TaskStage): Record<string, Timestamp> => {
  const status = taskStageStatus(run, stage);
  const running = stamp(run, stage, 'running');
  const ended = stamp(run, stage, 'completed') ?? Object.values(run.statusTimestamps).sort().at(-1);
  const over = status !== 'pending' && status !== 'running' && status !== 'awaiting_override';
  return {
    ...(running ? { 'running-at': running } : {}),
    ...(over && ended ? { [`${status}-at`]: ended } : {}),
  };
};

/** A result that is no longer awaited shows the outcome of its stage. */
export const shownResultStatus = (result: Pick<ResultFacts, 'status' | 'stage'>, run: StageFacts): TaskResultStatus => {
  if (isResultFinal(result.status) || !isFinal(run.status)) return result.status;
  if (!stamp(run, result.stage, 'running')) return 'unreachable';
  return run.status === 'errored' ? 'errored' : 'canceled';
};

const form = /^ts-([A-Za-z0-9]{16})([1-4])$/;

/** The id (`ts-…`) of a stage of the run; the stage need not exist. */
export const taskStageId = (runId: string, stage: TaskStage): string =>
  `${runId.replace(/^run-/, 'ts-')}${digitOf(stage)}`;

/** Run and stage of an id. */
export const readTaskStageId = (id: string): { runId: string; stage: TaskStage } | undefined => {
  const [, characters, digit] = form.exec(id) ?? [];
  const stage = taskStages[Number(digit) - 1];
  return characters && stage ? { runId: `run-${characters}`, stage } : undefined;
};

export const digitOf = (stage: TaskStage): number => taskStages.indexOf(stage) + 1;
