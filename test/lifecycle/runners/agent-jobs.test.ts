import { expect, it, vi } from 'vitest';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** The queue of an agent pool: which agent gets which phase. */

await startAws();
const store = {
  ...(await import('#lifecycle/runners/agent-jobs.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/table.ts')),
};

let pools = 0;
const newPool = () => ({ id: `apool-${++pools}`, name: 'p' });
const taker = (pool: { id: string }, name = 'a') => ({ id: `agent-${name}`, name, poolId: pool.id });
const queued = async (agentPool: Run['agentPool'], minute: number, set: Partial<Run> = {}): Promise<Run> => {
  const at = `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
  const statusTimestamps = { 'plan-queued-at': at };
  const run = newRun({ id: store.newId('run'), status: 'plan_queued', agentPool, statusTimestamps, ...set });
  await store.put({ ...store.keys.run(run.id), ...run });
  await store.queueJob(run, set.status === 'apply_queued' ? 'apply' : 'plan');
  return run;
};
const entries = ({ id }: { id: string }) => store.queryAll({ pk: store.keys.agentPool(id).pk, prefix: 'JOB#' });
const takes = async (pool: { id: string }, name?: string) => (await store.takeJob(taker(pool, name)))?.run.id;

it('agents get the oldest job first, those of hidden runs last, and each job once', async () => {
  const pool = newPool();
  const hidden = await queued(pool, 1, { assessment: { stateId: '' } });
  const second = await queued(pool, 3, {
    status: 'apply_queued',
    statusTimestamps: { 'apply-queued-at': '2026-01-01T00:03:00.000Z' },
  });
  const first = await queued(pool, 2);
  expect(await takes(newPool())).toBeUndefined();
  const job = await store.takeJob(taker(pool));
  expect(job).toMatchObject({ phase: 'plan', run: { id: first.id, plan: { agent: { id: 'agent-a', name: 'a' } } } });
  expect(await store.claimPhase(job?.claim ?? '', 'nonce')).toMatchObject({ phase: 'plan', run: { id: first.id } });
  expect(await store.takeJob(taker(pool, 'b'))).toMatchObject({ phase: 'apply', run: { id: second.id } });
  expect(await takes(pool)).toBe(hidden.id);
  expect(await takes(pool)).toBeUndefined();
  // The claimed one is over; the others may have to be taken again.
  expect(await entries(pool)).toHaveLength(2);
});

it('a job whose agent does not claim it in time is free again, and its former claim is void', async () => {
  const pool = newPool();
  const run = await queued(pool, 1);
  const former = await store.takeJob(taker(pool));
  expect(await takes(pool, 'b')).toBeUndefined();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 101_000 });
  const taken = await store.takeJob(taker(pool, 'b'));
  vi.useRealTimers();
  expect(taken?.run).toMatchObject({ id: run.id, plan: { agent: { name: 'b' } } });
  expect(await store.claimPhase(former?.claim ?? '', 'nonce')).toBeUndefined();
});

it.each<[string, Partial<Run>]>([
  ['was canceled', { cancel: { by: 'u', at: '', forceAvailableAt: '' } }],
  ['has ended', { status: 'errored' }],
  ['has moved to another pool', { agentPool: { id: 'apool-other', name: 'o' } }],
])('the job of a run that %s is removed', async (_, change) => {
  const pool = newPool();
  const run = await queued(pool, 1);
  await store.updateRun(run.id, { set: change });
  expect(await takes(pool)).toBeUndefined();
  expect(await entries(pool)).toEqual([]);
});

it('a pool with more than one page of outdated jobs still gives the next one', async () => {
  const pool = newPool();
  for (let n = 0; n < 25; n++)
    await queued(pool, n, {
      status: 'errored',
      statusTimestamps: { 'plan-queued-at': `2026-01-01T00:00:${n + 10}.000Z` },
    });
  const last = await queued(pool, 59);
  expect(await takes(pool)).toBe(last.id);
  expect(await entries(pool)).toHaveLength(1);
});

it('a queued job is in the queue once, and in the timeline of its run', async () => {
  const pool = newPool();
  const run = await queued(pool, 1);
  expect(store.isJobQueued((await store.getRun(run.id)) as Run, 'plan')).toBe(true);
  expect(store.isJobQueued((await store.getRun(run.id)) as Run, 'apply')).toBe(false);
  await store.queueJob(run, 'plan');
  expect(await entries(pool)).toHaveLength(1);
  const elsewhere = await queued(undefined, 1);
  expect(store.isJobQueued((await store.getRun(elsewhere.id)) as Run, 'plan'), 'without a pool').toBe(false);
});
