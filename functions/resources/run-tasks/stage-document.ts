import { many, one } from '#api/answer.ts';
import { policyEvaluationId } from '#resources/policies/result-records.ts';
import type { Viewer } from '#resources/runs/document.ts';
import { pendingOverride } from '#run/actions.ts';
import type { TaskStage } from '#run/check-record.ts';
import type { Run } from '#run/run.ts';
import {
  type StageFacts,
  shownResultStatus,
  taskStageId,
  taskStageStatus,
  taskStageTimestamps,
} from '#run/task-stages.ts';
import type { Outcome } from './outcomes.ts';
import type { TaskResult } from './results.ts';

/** Attributes of a run that its task stages depend on. */
export type StagesOf = StageFacts & Pick<Run, 'createdAt' | 'decision' | 'cancel' | 'overrides'>;

export const taskStageDocument = (run: StagesOf, stage: TaskStage, { granted }: Pick<Viewer, 'granted'>) => {
  const id = taskStageId(run.id, stage);
  const status = taskStageStatus(run, stage);
  const stamps = taskStageTimestamps(run, stage);
  const mayOverride = granted.has('run:override-policy');
  return {
    id,
    type: 'task-stages',
    attributes: {
      status,
      stage,
      'status-timestamps': stamps,
      'created-at': run.createdAt,
      'updated-at': Object.values(stamps).sort().at(-1) ?? run.createdAt,
      actions: { 'is-overridable': stage === 'post_plan' && pendingOverride(run) === 'policyEvaluation' },
      // A mandatory run task cannot be overridden; policies can.
      permissions: { 'can-override-policy': mayOverride, 'can-override-tasks': false, 'can-override': mayOverride },
    },
    relationships: {
      run: one('runs', run.id),
      'cost-estimate': { data: null },
      'task-results': many('task-results', run.checks?.tasks?.[stage]?.taskResultIds ?? []),
      'policy-evaluations': many(
        'policy-evaluations',
        stage === 'post_plan' && run.checks?.policyEvaluation ? [policyEvaluationId(run.id)] : [],
      ),
    },
    links: { self: `/api/v2/task-stages/${id}` },
  };
};

export const taskResultDocument = (result: TaskResult, run: StageFacts) => ({
  id: result.id,
  type: 'task-results',
  attributes: {
    // The command line reads the first letter of both, so neither may be empty.
    status: shownResultStatus(result, run),
    'workspace-task-enforcement-level': result.enforcementLevel,
    message: result.message ?? null,
    url: result.url ?? null,
    'status-timestamps': result.statusTimestamps,
    'created-at': result.createdAt,
    'updated-at': result.updatedAt,
    'task-id': result.taskId,
    'task-name': result.taskName,
    'task-url': result.taskUrl,
    'task-result-outcomes-count': result.outcomeCount ?? 0,
    stage: result.stage,
    'is-speculative': result.isSpeculative,
    'workspace-task-id': result.workspaceTaskId ?? null,
    'agent-pool-id': null,
  },
  relationships: { 'task-stage': one('task-stages', taskStageId(result.runId, result.stage)) },
  links: { self: `/api/v2/task-results/${result.id}` },
});

export const outcomeDocument = (outcome: Outcome, taskResultId: string) => {
  const self = `/api/v2/task-result-outcomes/${outcome.id}`;
  return {
    id: outcome.id,
    type: 'task-result-outcomes',
    attributes: {
      'outcome-id': outcome.outcomeId,
      description: outcome.description,
      url: outcome.url,
      tags: outcome.tags,
      'created-at': outcome.createdAt,
    },
    relationships: { 'task-result': one('task-results', taskResultId) },
    links: { self, ...(outcome.body ? { body: `${self}/body` } : {}) },
  };
};
