import { describe, expect, it } from 'vitest';
import { sha256Of } from '#platform/store/integrity.ts';
import { newCostEstimate } from '#run/cost-estimate.ts';
import { shortened } from '#run/phase-report.ts';
import type { Run } from '#run/run.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { planOf } from './support.ts';

const api = await startApi();
const help = await runHelpers(api);
const { estimateCosts } = await import('#resources/costs/records.ts');
const { putObject } = await import('#platform/store/bucket.ts');

const at = '2026-01-01T00:00:00.000Z';
const idOf = (runId: string) => runId.replace('run-', 'ce-');
/** A run that waits for its estimate. */
const waiting = async (set: Partial<Run> & Record<string, unknown> = {}): Promise<string> => {
  const { id } = await help.ready();
  const run = await help.create(id);
  await help.bring(run.id, { costEstimate: newCostEstimate({ targetAddrs: null }, at), ...set });
  return run.id;
};
const estimated = async (
  plan = planOf([
    { type: 'aws_nat_gateway', before: {}, after: {} },
    { type: 'aws_eks_cluster', after: {} },
    { type: 'aws_vpc', after: {} },
    { type: 'aws_redshift_cluster', name: 'big', after: {} },
  ]),
): Promise<string> => {
  const artifacts = { 'plan-json': shortened(sha256Of(Uint8Array.from(plan))) };
  const report = { outcome: 'finished' as const, hasChanges: true, artifacts };
  const id = await waiting({ status: 'cost_estimating', 'plan.status': 'finished', 'plan.report': report });
  await putObject(`runs/${id}/plan/plan-json`, Uint8Array.from(plan));
  await estimateCosts((await help.store.getRun(id)) as Run);
  return id;
};
const output = (runId: string) => api.get(`cost-estimates/${idOf(runId)}/output`);

describe('a cost estimate', () => {
  it('is related to its run, and included on request', async () => {
    const id = await waiting();
    const { body } = await api.get(`runs/${id}?include=cost_estimate`);
    expect(body.data.relationships['cost-estimate']).toEqual({ data: { type: 'cost-estimates', id: idOf(id) } });
    expect(body.included).toMatchObject([{ type: 'cost-estimates', id: idOf(id), attributes: { status: 'pending' } }]);
    const list = await api.get(`workspaces/${body.data.relationships.workspace.data.id}/runs?include=cost_estimate`);
    expect(list.body.included).toEqual(body.included);
  });

  it('shows the cost of each resource before and after', async () => {
    const id = await estimated();
    const { status, body } = await api.get(`cost-estimates/${idOf(id)}`);
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: idOf(id),
      type: 'cost-estimates',
      attributes: {
        'error-message': null,
        status: 'finished',
        'status-timestamps': { 'pending-at': at, 'finished-at': expect.any(String) },
        resources: { matched: expect.any(Array), unmatched: expect.any(Array) },
        'resources-count': 4,
        'matched-resources-count': 3,
        'unmatched-resources-count': 1,
        'prior-monthly-cost': '32.85',
        'proposed-monthly-cost': '105.85',
        'delta-monthly-cost': '73.0',
        'price-sources': ['price-file'],
        'prices-as-of': expect.stringMatching(/^\d{4}-\d\d$/),
      },
      links: { self: `/api/v2/cost-estimates/${idOf(id)}` },
    });
    const { matched, unmatched } = body.data.attributes.resources;
    expect(matched[1]).toEqual({
      address: 'aws_eks_cluster.this',
      type: 'aws_eks_cluster',
      name: 'this',
      region: 'us-east-1',
      'prior-hourly-cost': '0.0',
      'proposed-hourly-cost': '0.1',
      'delta-hourly-cost': '0.1',
      'prior-monthly-cost': '0.0',
      'proposed-monthly-cost': '73.0',
      'delta-monthly-cost': '73.0',
      'price-sources': ['price-file'],
      assumptions: ['a Kubernetes version in standard support'],
    });
    expect(unmatched).toEqual([
      {
        address: 'aws_redshift_cluster.big',
        type: 'aws_redshift_cluster',
        name: 'big',
        reason: 'estimates do not support resources of type aws_redshift_cluster',
      },
    ]);
  });

  it('is also available as text', async () => {
    const { status, headers, body } = await output(await estimated());
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(body).toMatch(/^Resources: 3 of 4 estimated$/m);
    expect(body).toMatch(/^Total +32\.85 +105\.85 +73\.0$/m);
    expect(body).toMatch(/^ {2}aws_redshift_cluster\.big: estimates do not support/m);
    expect(body).toMatch(/^Prices from list prices of \d{4}-\d\d\.$/m);
    expect(body).not.toContain('aws_vpc');
  });

  it('gives the reason when there is none', async () => {
    const errored = await estimated(Buffer.from('<html>'));
    const { body } = await api.get(`cost-estimates/${idOf(errored)}`);
    expect(body.data.attributes).toMatchObject({
      status: 'errored',
      'error-message': 'The JSON plan is not an object.',
      resources: null,
      'delta-monthly-cost': null,
    });
    expect((await output(errored)).body).toBe('The JSON plan is not an object.\n');
    const targeted = await waiting({ costEstimate: newCostEstimate({ targetAddrs: ['a.b'] }, at) });
    expect((await output(targeted)).body).toContain('the run has target addresses');
    expect((await output(await waiting())).status).toBe(503);
    const ended = await waiting({ status: 'errored' });
    expect((await api.get(`cost-estimates/${idOf(ended)}`)).body.data.attributes.status).toBe('unreachable');
    expect((await output(ended)).body).toContain('the run ended before');
  });

  it('is 404 for a run without one, and for unknown ids', async () => {
    const { id } = await help.ready();
    const run = await help.create(id);
    expect(run.relationships['cost-estimate']).toEqual({ data: null });
    for (const one of [run.id, `plan-${run.id.slice(4)}`, 'ce-unknown', idOf(run.id)])
      expect([one, (await api.get(`cost-estimates/${one}`)).status]).toEqual([one, 404]);
  });

  it('is visible to users who can see the run', async () => {
    const id = await waiting();
    const reader = await help.user('read');
    expect((await api.get(`cost-estimates/${idOf(id)}`, { token: reader.token })).status).toBe(200);
    const { createUser } = await import('#resources/users/users.ts');
    const { createToken } = await import('#resources/users/tokens.ts');
    const stranger = await createUser({ username: 'stranger', email: 's@t.test' });
    const { secret } = await createToken(stranger.id, '');
    expect((await api.get(`cost-estimates/${idOf(id)}`, { token: secret })).status).toBe(404);
    expect((await api.get(`cost-estimates/${idOf(id)}`, { token: null })).status).toBe(401);
  });
});
