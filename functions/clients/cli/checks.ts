import { type Client, type Resource, related } from '#clients/client/client.ts';
import type { PolicySetResult } from '#clients/client/documents.ts';
import { messageOf } from '#clients/client/run-facts.ts';
import type { TaskStage } from '#run/check-record.ts';
import { isResultFinal } from '#run/task-stages.ts';

/** Results of run tasks, policies and the cost estimate of a run in progress, as events for people and programs. */

export interface TaskResult {
  event: 'task-result';
  stage: TaskStage;
  task: string;
  'enforcement-level': string;
  status: string;
  message: string | null;
  url: string | null;
}

export interface Policies {
  event: 'policies';
  /** `policy-check` (three levels) or `policy-evaluation` (OPA). */
  kind: 'policy-check' | 'policy-evaluation';
  status: string;
  /** Why a policy set could not be evaluated. */
  errors: string[];
  policies: { name: string; 'enforcement-level': string; status: string; messages: string[] }[];
}

export interface CostEstimate {
  event: 'cost-estimate';
  status: string;
  /** USD a month, as decimals. */
  'prior-monthly-cost': string | null;
  'proposed-monthly-cost': string | null;
  'delta-monthly-cost': string | null;
  'matched-resources-count': number | null;
  'unmatched-resources-count': number | null;
  'error-message': string | null;
}

export type CheckResult = TaskResult | Policies | CostEstimate;

const policies = (kind: Policies['kind'], status: string, sets: PolicySetResult[]): Policies => ({
  event: 'policies',
  kind,
  status,
  errors: sets.flatMap(({ error }) => error ?? []),
  policies: sets
    .flatMap(({ outcomes }) => outcomes)
    .map((outcome) => ({
      name: outcome.policy_name,
      'enforcement-level': outcome.enforcement_level,
      status: outcome.status,
      messages: (outcome.output ?? []).map(messageOf),
    })),
});

export const taskResults = async (client: Client, run: Resource<'runs'>): Promise<TaskResult[]> => {
  const { included = [] } = await client.call('GET', `/runs/${run.id}/task-stages?include=task_results`);
  return included
    .filter(({ type, attributes }) => type === 'task-results' && isResultFinal(attributes.status))
    .map(({ attributes }) => ({
      event: 'task-result',
      stage: attributes.stage,
      task: attributes['task-name'],
      'enforcement-level': attributes['workspace-task-enforcement-level'],
      status: attributes.status,
      message: attributes.message,
      url: attributes.url,
    }));
};

const judged = (status: string): boolean => !['pending', 'queued', 'running'].includes(status);

/** Results of OPA policies; undefined when there are none or they are not evaluated yet. */
export const evaluation = async (client: Client, stages: Resource<'task-stages'>[]): Promise<Policies | undefined> => {
  const id = stages.map((stage) => related(stage, 'policy-evaluations')).find((id) => id !== undefined);
  if (!id) return undefined;
  const { status } = (await client.get(`/policy-evaluations/${id}`)).attributes;
  if (!judged(status)) return undefined;
  const { data } = await client.some<'policy-set-outcomes'>(`/policy-evaluations/${id}/policy-set-outcomes`, 1000);
  const sets = data.map(({ attributes }) => attributes);
  return policies('policy-evaluation', status, sets);
};

/** Results of policies with three enforcement levels. */
export const check = async (client: Client, run: Resource<'runs'>): Promise<Policies | undefined> => {
  const id = related(run, 'policy-checks');
  if (!id) return undefined;
  const { status, result } = (await client.get(`/policy-checks/${id}`)).attributes;
  return judged(status) ? policies('policy-check', status, result?.sentinel['policy-sets'] ?? []) : undefined;
};

export const costEstimate = (estimate: Resource<'cost-estimates'> | undefined): CostEstimate | undefined => {
  if (!estimate || !judged(estimate.attributes.status)) return undefined;
  const { attributes } = estimate;
  return {
    event: 'cost-estimate',
    status: attributes.status,
    'prior-monthly-cost': attributes['prior-monthly-cost'],
    'proposed-monthly-cost': attributes['proposed-monthly-cost'],
    'delta-monthly-cost': attributes['delta-monthly-cost'],
    'matched-resources-count': attributes['matched-resources-count'],
    'unmatched-resources-count': attributes['unmatched-resources-count'],
    'error-message': attributes['error-message'],
  };
};
