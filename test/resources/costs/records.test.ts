import { describe, expect, it } from 'vitest';
import { sha256Of } from '#platform/store/integrity.ts';
import { newCostEstimate } from '#run/cost-estimate.ts';
import { shortened } from '#run/phase-report.ts';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';
import { startStorage } from '#test/support/storage.ts';
import { type Change, planOf } from './support.ts';

await startAws();
const storage = await startStorage();
const { estimateCosts } = await import('#resources/costs/records.ts');
const runs = await import('#resources/runs/records.ts');
const table = await import('#platform/store/table.ts');
const bucket = await import('#platform/store/bucket.ts');
const details = await import('#resources/costs/details-records.ts');

let counter = 0;
/** A run with a finished plan. */
const planned = async (plan: Change[] | Buffer | undefined, change: Partial<Run> = {}): Promise<Run> => {
  const id = `run-${String(++counter).padStart(16, '0')}`;
  const json = plan && Uint8Array.from(Buffer.isBuffer(plan) ? plan : planOf(plan));
  const run = newRun({
    id,
    status: 'cost_estimating',
    costEstimate: newCostEstimate({ targetAddrs: change.targetAddrs ?? null }, '2026-01-01T00:00:00.000Z'),
    plan: {
      status: 'finished',
      statusTimestamps: {},
      report: { outcome: 'finished', artifacts: json ? { 'plan-json': shortened(sha256Of(json)) } : {} },
    },
    ...change,
  });
  await table.put({ pk: `RUN#${id}`, sk: 'RUN', ...run });
  if (json) await bucket.putObject(`runs/${id}/plan/plan-json`, json);
  return run;
};
const gateway: Change = { type: 'aws_nat_gateway', before: {}, after: {} };
const cluster: Change = { type: 'aws_eks_cluster', after: {} };

describe('estimating the costs of a run', () => {
  it('keeps totals on the run and resources beside it', async () => {
    const run = await planned([gateway, cluster, { type: 'aws_redshift_cluster', after: {} }]);
    const estimate = await estimateCosts(run);
    expect(estimate).toEqual({
      status: 'finished',
      statusTimestamps: { 'pending-at': '2026-01-01T00:00:00.000Z', 'finished-at': expect.stringMatching(/Z$/) },
      resourcesCount: 3,
      matchedResourcesCount: 2,
      unmatchedResourcesCount: 1,
      priorMonthlyCost: '32.85',
      proposedMonthlyCost: '105.85',
      deltaMonthlyCost: '73.0',
      priceSources: ['price-file'],
      pricesAsOf: expect.stringMatching(/^\d{4}-\d\d$/),
    });
    const stored = (await runs.getRun(run.id)) as Run;
    expect(stored.costEstimate).toEqual(estimate);
    const { matched = [], unmatched = [] } = (await details.getCostDetails(stored)) ?? {};
    expect(matched.map(({ type }) => type)).toEqual(['aws_nat_gateway', 'aws_eks_cluster']);
    expect(unmatched.map(({ type }) => type)).toEqual(['aws_redshift_cluster']);
  });

  it('returns the same result to repeated and concurrent requests', async () => {
    const run = await planned([cluster]);
    const [one, other] = await Promise.all([estimateCosts(run), estimateCosts(run)]);
    expect(other).toEqual(one);
    const cheaper = Uint8Array.from(planOf([gateway]));
    await bucket.putObject(`runs/${run.id}/plan/plan-json`, cheaper);
    const report = { outcome: 'finished' as const, artifacts: { 'plan-json': shortened(sha256Of(cheaper)) } };
    expect(await estimateCosts({ ...run, plan: { ...run.plan, report } })).toEqual(one);
    expect(await estimateCosts((await runs.getRun(run.id)) as Run)).toEqual(one);
  });

  it.each<[string, Change[] | Buffer | undefined, RegExp]>([
    ['left no JSON', undefined, /no JSON output to estimate/],
    ['is not JSON', Buffer.from('<html>'), /is not an object/],
    ['is cut off', planOf([cluster]).subarray(0, 100), /truncated/],
    ['is of another format', Buffer.from('{"format_version":"3.0"}'), /format "3.0"/],
  ])('ends as errored, without throwing, when the plan %s', async (_name, plan, message) => {
    const estimate = await estimateCosts(await planned(plan));
    expect(estimate).toMatchObject({ status: 'errored', errorMessage: expect.stringMatching(message) });
    expect(estimate?.statusTimestamps).toHaveProperty('errored-at');
    expect(estimate).not.toHaveProperty('deltaMonthlyCost');
  });

  it('ends as errored when the plan is missing', async () => {
    const run = await planned([cluster]);
    run.id = 'run-0000000000vanish';
    await table.put({ pk: `RUN#${run.id}`, sk: 'RUN', ...run });
    expect(await estimateCosts(run)).toMatchObject({ status: 'errored', errorMessage: /has expired/ });
  });

  it('rejects a plan that is too large without reading it', async () => {
    const run = await planned(Buffer.alloc(128 * 1024 * 1024 + 1, ' '));
    expect(await estimateCosts(run)).toMatchObject({
      status: 'errored',
      errorMessage: 'The JSON plan has 129 MiB; the maximum for cost estimates is 128 MiB.',
    });
  });

  it('makes no estimate for a run with targets or without estimates', async () => {
    const targeted = await planned([cluster], { targetAddrs: ['aws_eks_cluster.this'] });
    expect((await estimateCosts(targeted))?.status).toBe('skipped_due_to_targeting');
    expect(await estimateCosts(await planned([cluster], { costEstimate: undefined }))).toBeUndefined();
  });

  it('leaves a run unchanged that has ended in the meantime', async () => {
    const run = await planned([cluster]);
    await runs.updateRun(run.id, { set: { status: 'canceled' } });
    expect((await estimateCosts(run))?.status).toBe('pending');
  });

  it('throws errors of the platform', async () => {
    const run = await planned([cluster]);
    storage.busy(1);
    await expect(estimateCosts(run)).rejects.toThrow('HTTP 503');
    expect((await estimateCosts(run))?.status).toBe('finished');
  });
});
