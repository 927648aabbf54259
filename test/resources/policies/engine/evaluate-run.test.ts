import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { archive, policyFiles, policySetOf, uploadVersion } from '#test/support/policies.ts';
import { judgedRuns, noLargeMachines, planOf } from '#test/support/policy-runs.ts';

/** Policies of runs, from their assignment to a workspace to the verdict. */

// A folder of its own, so that leftover files can only come from here.
const folder = mkdtempSync(join(tmpdir(), 'evaluate-'));
process.env.TMPDIR = folder;
const api = await startApi();
const help = await judgedRuns(api);
const results = await import('#resources/policies/result-records.ts');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const detailsOf = async (runId: string, what: 'evaluation' | 'check') => {
  const stored = await results.getPolicyResult(runId, what);
  return stored ? results.readPolicySetOutcomes(stored) : [];
};

describe('a run', () => {
  it('shows no policies when there are none', async () => {
    const run = await help.planned((await api.workspace()).id);
    expect(run.checks?.policyEvaluation).toBeUndefined();
    expect(await help.related(run.id, 'policy-checks')).toEqual([]);
  });

  it('is evaluated with a plan of 5,000 resources', async () => {
    const { workspaceId } = await help.guarded(noLargeMachines, 'mandatory');
    const run = await help.planned(workspaceId, planOf(5000));
    expect(run.checks).toMatchObject({ policyEvaluation: true });
    const judged = await help.evaluatePolicies(run);
    expect(judged).toEqual({
      verdict: 'failed',
      reason: expect.stringMatching(/^Policy "sizes" of set "set-\d+" failed\.$/),
    });
    const [set] = await detailsOf(run.id, 'evaluation');
    expect(set).toMatchObject({
      policyToolVersion: expect.stringMatching(/^\d/),
      outcomes: [{ policyName: 'sizes', status: 'failed', description: 'No large machines' }],
    });
    expect(set?.outcomes[0]?.output).toHaveLength(50);
    const left = readdirSync(folder).filter((name) => /^(input|policies)-/.test(name));
    expect(left).toEqual([]);
  });

  it('passes no policy when its plan file could not be compared with its JSON', async () => {
    const { workspaceId } = await help.guarded('deny := []', 'mandatory');
    const run = await help.planned(workspaceId);
    const uncompared = 'the plan file cannot be compared with its JSON: OpenTofu has encrypted it';
    const report = { outcome: 'finished' as const, ...run.plan.report, uncompared };
    expect(await help.evaluatePolicies({ ...run, plan: { ...run.plan, report } })).toEqual({
      verdict: 'failed',
      reason: expect.stringContaining(uncompared),
    });
  });

  it('is evaluated once: the first result stands', async () => {
    const { workspaceId } = await help.guarded(noLargeMachines, 'mandatory', { overridable: true });
    const run = await help.planned(workspaceId);
    const both = await Promise.all([help.evaluatePolicies(run), help.evaluatePolicies(run)]);
    expect(both.map(({ verdict }) => verdict)).toEqual(['overridable', 'overridable']);
    const stored = await results.getPolicyResult(run.id, 'evaluation');
    await help.evaluatePolicies(run);
    expect(await results.getPolicyResult(run.id, 'evaluation')).toEqual(stored);
  });

  it('keeps the policies and parameters it was created with', async () => {
    const rule = 'deny := [data.params.secret, upper(data.params.secret), data.params.plain]';
    const { workspaceId, policySet } = await help.guarded(rule, 'mandatory');
    const parameters = `policy-sets/${policySet}/parameters`;
    const { id } = (await api.post(parameters, { key: 'secret', value: 's3cret', sensitive: true })).body.data;
    await api.post(parameters, { key: 'plain', value: 'text' });
    const run = await help.planned(workspaceId);
    await api.patch(`${parameters}/${id}`, { value: 'later' });
    await uploadVersion(api, policySet, new Uint8Array(await archive(policyFiles('deny := []'))));
    await api.call('DELETE', `policy-sets/${policySet}`);
    expect((await help.evaluatePolicies(run)).verdict).toBe('failed');
    expect((await detailsOf(run.id, 'evaluation'))[0]?.outcomes[0]?.output).toEqual([
      '(sensitive value)',
      'S3CRET',
      'text',
    ]);
  });

  it('keeps sensitive parameters out of errors', async () => {
    const { workspaceId, policySet } = await help.guarded('deny := [to_number(data.params.secret)]', 'mandatory');
    await api.post(`policy-sets/${policySet}/parameters`, { key: 'secret', value: 's3cret', sensitive: true });
    const run = await help.planned(workspaceId);
    expect((await help.evaluatePolicies(run)).verdict).toBe('failed');
    const [set] = await detailsOf(run.id, 'evaluation');
    expect(JSON.stringify(set)).toContain('parsing \\"(sensitive value)\\"');
    expect(JSON.stringify(set)).not.toContain('s3cret');
  });

  it('includes a new upload of a set that has not been read yet', async () => {
    const { workspaceId, policySet } = await help.guarded('deny := []', 'mandatory');
    const version = (await api.post(`policy-sets/${policySet}/versions`)).body.data;
    const content = new Uint8Array(await archive(policyFiles('deny := ["new"]')));
    await fetch(version.links.upload, { method: 'PUT', body: content });
    expect((await help.evaluatePolicies(await help.planned(workspaceId))).verdict).toBe('failed');
  });

  it('passes its facts to policies, with the costs once known', async () => {
    const rule = 'deny := [json.marshal(input.run)]';
    const { workspaceId } = await help.guarded(rule, 'advisory');
    const tags = { data: [{ type: 'tag-bindings', attributes: { key: 'env', value: 'prod' } }] };
    await api.patch(`workspaces/${workspaceId}`, { description: 'Network' }, { 'tag-bindings': tags });
    await api.post(`workspaces/${workspaceId}/vars`, {
      key: 'password',
      value: 'hunter2',
      category: 'env',
      sensitive: true,
    });
    const costEstimate = {
      status: 'finished' as const,
      statusTimestamps: {},
      priorMonthlyCost: '0.0',
      proposedMonthlyCost: '25.488',
      deltaMonthlyCost: '25.488',
    };
    const run = await help.planned(workspaceId, planOf(0), { costEstimate });
    await help.evaluatePolicies(run);
    const printed = String((await detailsOf(run.id, 'evaluation'))[0]?.outcomes[0]?.output[0]);
    expect(printed).not.toContain('hunter2');
    expect(JSON.parse(printed)).toMatchObject({
      id: run.id,
      created_by: 'owner',
      speculative: false,
      is_destroy: false,
      target_addrs: [],
      variables: { password: { category: 'env', sensitive: true } },
      organization: { name: 'acme' },
      project: { name: 'Default Project' },
      workspace: {
        id: workspaceId,
        description: 'Network',
        auto_apply: false,
        execution_mode: 'remote',
        tag_bindings: [{ key: 'env', value: 'prod' }],
      },
      cost_estimate: { delta_monthly_cost: '25.488' },
    });
  });
});

describe('individually managed policies', () => {
  const withPolicies = async (kind: string, sources: (string | undefined)[], level: string) => {
    const workspace = await api.workspace();
    const policies = await Promise.all(
      sources.map(async (body) => {
        const attributes = { name: uniqueName('p'), kind, query: 'data.a.deny', 'enforcement-level': level };
        const { id } = (await api.post('organizations/acme/policies', attributes)).body.data;
        if (body) await api.call('PUT', `policies/${id}/upload`, { body });
        return { type: 'policies', id };
      }),
    );
    const workspaces = { data: [{ type: 'workspaces', id: workspace.id }] };
    const response = await api.post(
      'organizations/acme/policy-sets',
      { name: uniqueName('set'), kind },
      { workspaces, policies: { data: policies } },
    );
    expect(response.status).toBe(201);
    return help.planned(workspace.id);
  };

  it('are evaluated separately: a broken one affects no other, and one without source fails', async () => {
    const run = await withPolicies(
      'opa',
      ['package a\ndeny := []', 'package a\ndeny := x if some x in [[], ["b"]]', undefined],
      'mandatory',
    );
    const { verdict, reason } = await help.evaluatePolicies(run);
    expect(verdict).toBe('failed');
    expect(reason).toContain('policy.rego line 2');
    expect(reason).toContain('has no source');
    const [set] = await detailsOf(run.id, 'evaluation');
    expect(set?.outcomes.map(({ status }) => status)).toEqual(['passed', 'errored', 'errored']);
  });

  it('accept Rego in policy checks, and Sentinel where it is installed', async () => {
    const rego = await withPolicies('sentinel', ['# why\npackage a\ndeny := ["no"]'], 'soft-mandatory');
    expect(rego.checks).toEqual({ policyCheck: true });
    expect((await help.checkPolicies(rego)).verdict).toBe('soft_failed');
    const passing = await withPolicies('sentinel', ['package a\ndeny := []'], 'hard-mandatory');
    expect((await help.checkPolicies(passing)).verdict).toBe('passed');
    const sentinel = await withPolicies('sentinel', ['main = rule { true }'], 'advisory');
    const { verdict, reason } = await help.checkPolicies(sentinel);
    expect(verdict).toBe('hard_failed');
    expect(reason).toContain('Sentinel is not installed');
  });
});

it('evaluates the sets of a workspace by their kind', async () => {
  const workspace = await api.workspace();
  const workspaces = { data: [{ type: 'workspaces', id: workspace.id }] };
  await policySetOf(api, { kind: 'opa' }, policyFiles('deny := ["advice"]', 'advisory'), { workspaces });
  await policySetOf(api, { kind: 'sentinel' }, policyFiles('deny := ["hard"]', 'hard-mandatory'), { workspaces });
  const run = await help.planned(workspace.id);
  expect(run.checks).toEqual({ policyEvaluation: true, policyCheck: true });
  expect((await help.evaluatePolicies(run)).verdict).toBe('passed');
  expect((await help.checkPolicies(run)).verdict).toBe('hard_failed');
});

it('evaluates an agent-enabled set of kind sentinel at its levels', async () => {
  const workspace = await api.workspace();
  const workspaces = { data: [{ type: 'workspaces', id: workspace.id }] };
  const settings = { kind: 'sentinel', 'agent-enabled': true };
  const id = await policySetOf(api, settings, policyFiles('deny := ["soft"]', 'soft-mandatory'), { workspaces });
  expect((await api.get(`policy-sets/${id}`)).body.data.attributes['agent-enabled']).toBe(true);
  const run = await help.planned(workspace.id);
  expect(run.checks).toEqual({ policyEvaluation: true });
  expect((await help.evaluatePolicies(run)).verdict).toBe('overridable');
  await api.patch(`policy-sets/${id}`, { 'agent-enabled': false });
  expect((await help.planned(workspace.id)).checks).toEqual({ policyCheck: true });
});
