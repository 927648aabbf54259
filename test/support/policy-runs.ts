import type { Run } from '#run/run.ts';
import { type Api, gzipHead } from './api.ts';
import { policyFiles, policySetOf } from './policies.ts';
import { ids, runHelpers } from './runs.ts';

/** A plan with this many resources, each of about 2 KB. */
export const planOf = (resources: number) => ({
  format_version: '1.2',
  resource_changes: Array.from({ length: resources }, (_, i) => ({
    address: `aws_instance.machine[${i}]`,
    type: 'aws_instance',
    change: {
      actions: ['create'],
      before: null,
      after: {
        instance_type: i % 100 ? 't3.micro' : 'x1.32xlarge',
        tags: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`tag-${n}`, 'v'.repeat(80)])),
      },
    },
  })),
});

export const noLargeMachines = `deny contains msg if {
  some r in input.plan.resource_changes
  r.change.after.instance_type == "x1.32xlarge"
  msg := sprintf("%s is too large", [r.address])
}`;

/** Runs that have to pass policies, evaluated by the real engine. */
export const judgedRuns = async (api: Api) => {
  const runs = await runHelpers(api);
  const { putObject } = await import('#platform/store/bucket.ts');
  const { objects } = await import('#platform/store/keys.ts');
  const { evaluatePolicies, checkPolicies } = await import('#resources/policies/engine/evaluate-run.ts');
  const read = async (id: string) => (await runs.store.getRun(id)) as Run;
  /** A planned run that was created while these sets applied to its workspace. */
  const planned = async (
    workspaceId: string,
    plan: object = planOf(3),
    set: Partial<Run> & Record<string, unknown> = {},
  ): Promise<Run> => {
    await api.configuration(workspaceId, undefined, gzipHead);
    const { id } = await runs.create(workspaceId);
    await putObject(objects.artifact(id, 'plan', 'plan-json'), JSON.stringify(plan));
    if (Object.keys(set).length) await runs.bring(id, set);
    return read(id);
  };
  return {
    ...runs,
    read,
    planned,
    evaluatePolicies,
    checkPolicies,
    /** A workspace with one set of one policy. */
    guarded: async (rule: string, level: string, attributes: object = {}) => {
      const workspace = await api.workspace();
      const relationships = { workspaces: { data: [{ type: 'workspaces', id: workspace.id }] } };
      const kind = level.startsWith('soft') || level.startsWith('hard') ? 'sentinel' : 'opa';
      const policySet = await policySetOf(api, { kind, ...attributes }, policyFiles(rule, level), relationships);
      return { workspaceId: workspace.id as string, policySet };
    },
    /** Writes a verdict like the functions of the machine. */
    verdict: async (run: Run, check: 'policyEvaluation' | 'policyCheck', status: string, verdict?: string) =>
      runs.bring(run.id, {
        status: status as Run['status'],
        'statusTimestamps.post-plan-running-at': new Date().toISOString(),
        'statusTimestamps.policy-checking-at': new Date().toISOString(),
        ...(verdict ? { verdicts: { [check]: verdict } } : {}),
      } as Partial<Run>),
    related: async (runId: string, relation: string) =>
      ids((await api.get(`runs/${runId}`)).body.data.relationships[relation].data),
  };
};
