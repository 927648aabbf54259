import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { type StartedContainer, startAws, taskArnOf } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** A plan's runner that is ready for the apply of its run: who gets the apply, and when it goes to another runner. */

const aws = await startAws();
process.env.READY_SECONDS = '60';
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#lifecycle/runners/ready-runners.ts')),
  ...(await import('#lifecycle/runners/warm-runners.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/id.ts')),
  applyQueued: (await import('#lifecycle/states/apply-queued.ts')).handler,
  planQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  runnerStopped: (await import('#lifecycle/runners/runner-stopped.ts')).handler,
};
afterAll(() => (process.env.WARM_RUNNERS = ''));
beforeEach(() => {
  process.env.WARM_RUNNERS = '';
  aws.containers.length = 0;
  aws.sent.length = 0;
});

let count = 0;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const empty = { statusTimestamps: {} };
const decision = { action: 'apply', by: 'user-1', at: '' } as const;
const report = { outcome: 'finished', hasChanges: true } as const;

const open = async (set: Partial<Run>): Promise<Run> => {
  const n = String(++count).padStart(16, '0');
  const run = newRun({ id: `run-${n}`, workspaceId: `ws-${n}`, current: true, ...set });
  const { organization, workspaceId: id } = run;
  await store.create({ ...store.keys.workspace(id), id, organization, runCount: 1 });
  await store.create({ ...store.keys.run(run.id), ...run });
  return run;
};
const now = async ({ id }: Run) => (await store.getRun(id)) as Run;
const keyOf = ({ id }: Run): string => `${id.padEnd(43, 'k')}`;
const taskOf = ({ id }: Run): string => `task-${id}`;
const started = (run: Run) => aws.containers.filter(({ startedBy }) => startedBy === run.id);

/** A confirmed run whose plan's runner is ready. */
const confirmed = async (set: Partial<Run> = {}, readyMs = 60_000): Promise<Run> => {
  const run = await open({ status: 'confirmed', decision, ...set });
  const ready = { keyHash: store.hashSecret(keyOf(run)), until: inMs(readyMs) };
  const plan = { ...empty, status: 'finished', report, taskId: taskOf(run), ready };
  await store.updateRun(run.id, { set: { plan } });
  return run;
};
const queue = (run: Run) => store.applyQueued({ runId: run.id, token: `${run.id} token` });
const poll = (run: Run, key = keyOf(run)) => store.answerReady(`${run.id}.apply`, key);
const claim = (run: Run, key = keyOf(run)) => store.claimPhase(`${run.id}.apply.${key}`, 'nonce');
/** Polls as the runner does. */
const work = async (run: Run) => {
  for (;;) {
    const answer = await poll(run);
    if (answer?.action === 'claim') return claim(run);
    if (answer?.action !== 'wait') return answer;
    await sleep(5);
  }
};
const stops = (run: Run) => store.runnerStopped({ detail: { taskArn: taskArnOf(taskOf(run)), startedBy: run.id } });

it('a confirmed apply goes to the ready runner of its plan, without a container', async () => {
  const run = await confirmed();
  const [, claimed] = await Promise.all([queue(run), work(run)]);
  expect(claimed).toMatchObject({ phase: 'apply', run: { id: run.id, apply: { taskId: taskOf(run) } } });
  expect(started(run)).toEqual([]);
});

it('an apply that is confirmed after the time of its runner gets a container at once', async () => {
  const run = await confirmed({}, -1);
  expect(await poll(run)).toEqual({ action: 'exit' });
  const begin = Date.now();
  await queue(run);
  expect(Date.now() - begin).toBeLessThan(4_000);
  expect(started(run)).toHaveLength(1);
  expect(await poll(run)).toEqual({ action: 'exit' });
  expect(await claim(run)).toBeUndefined();
});

it('a runner that is reserved just before its time ends gets the apply', async () => {
  const run = await confirmed();
  const queued = queue(run);
  while ((await now(run)).apply.claimHash === undefined) await sleep(5);
  await store.updateRun(run.id, { set: { 'plan.ready.until': inMs(-1) } });
  expect(await work(run)).toMatchObject({ phase: 'apply' });
  await queued;
  expect(started(run)).toEqual([]);
});

it('a runner that does not claim within five seconds loses the apply for good, and retries wait for it no more', async () => {
  const run = await confirmed();
  aws.refusal = { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time.' }] };
  const begin = Date.now();
  await expect(queue(run)).rejects.toMatchObject({ name: 'CapacityUnavailableError' });
  expect(Date.now() - begin).toBeGreaterThanOrEqual(5_000);
  aws.refusal = undefined;
  const retry = Date.now();
  await queue(run);
  expect(Date.now() - retry).toBeLessThan(4_000);
  expect(started(run)).toHaveLength(1);
  expect(await poll(run)).toEqual({ action: 'exit' });
  expect(await claim(run)).toBeUndefined();
  const [container] = started(run) as [StartedContainer];
  expect(await store.claimPhase(container.environment.STEPFORM_CLAIM as string, 'n')).toBeDefined();
}, 30_000);

it('a runner that has stopped before the confirmation is not reserved', async () => {
  const run = await confirmed();
  await stops(run);
  await stops(run);
  expect((await now(run)).plan.ready).toBeUndefined();
  await queue(run);
  expect(started(run)).toHaveLength(1);
});

it('the end of the former runner takes no apply from the container that has its own claim', async () => {
  const run = await confirmed({}, -1);
  await queue(run);
  await stops(run);
  const [container] = started(run) as [StartedContainer];
  expect(await store.claimPhase(container.environment.STEPFORM_CLAIM as string, 'n')).toBeDefined();
});

it('an apply of a canceled run gets no runner', async () => {
  const run = await confirmed({ cancel: { by: 'u', at: '', forceAvailableAt: '' } });
  await queue(run);
  expect([(await now(run)).apply.claimHash, started(run)]).toEqual([undefined, []]);
  expect(await poll(run)).toEqual({ action: 'exit' });
});

it('a ready runner is never reserved for another run, nor returned to the pool', async () => {
  process.env.WARM_RUNNERS = JSON.stringify({ count: 2, pollMs: 5 });
  const own = await confirmed();
  const [other, planning] = [await confirmed({}, -1), await open({ status: 'pending' })];
  await Promise.all([queue(other), store.planQueued({ runId: planning.id, token: 't' })]);
  expect([started(other), started(planning)].map(({ length }) => length)).toEqual([1, 1]);
  for (const run of [other, planning]) expect(await claim(run, keyOf(own))).toBeUndefined();
  expect(await poll(other, keyOf(own))).toEqual({ action: 'exit' });
  expect(await store.readyRunners()).toEqual([]);
  expect((await now(own)).apply.claimHash).toBeUndefined();
});

it('a warm runner that has planned gets the apply of its run by its second key, and no other run by its first', async () => {
  process.env.WARM_RUNNERS = JSON.stringify({ count: 1, pollMs: 5 });
  await store.startWarmRunner();
  const container = aws.containers[0] as StartedContainer;
  const [secret = '', first] = [container.environment.STEPFORM_CLAIM, 'first'.padEnd(43, 'k')];
  await store.answerReady(secret, first);
  const run = await open({ status: 'pending' });
  const planned = (async () => {
    while ((await store.answerReady(secret, first))?.action !== 'claim') await sleep(5);
    return store.claimPhase(`${run.id}.plan.${first}`, 'nonce');
  })();
  await Promise.all([store.planQueued({ runId: run.id, token: 't' }), planned]);
  await store.updateRun(run.id, { set: { status: 'planning', wait: { state: 'Planning', token: 't' } } });
  await store.reportPhase(await now(run), 'plan', report, store.hashSecret(keyOf(run)));
  await store.updateRun(run.id, { set: { status: 'confirmed', decision } });
  const [, claimed] = await Promise.all([queue(run), work(run)]);
  expect(claimed).toMatchObject({ run: { id: run.id, apply: { taskId: container.taskId } } });
  // Its item in the pool names its plan for good.
  expect((await store.answerReady(secret, first))?.action).not.toBe('claim');
  expect(await claim(run, first)).toBeUndefined();
});

describe('a runner that is reserved with its report', () => {
  const reserved = async (): Promise<Run> => {
    const run = await open({
      status: 'planning',
      autoApply: true,
      wait: { state: 'Planning', token: 'planning' },
      plan: {
        ...empty,
        status: 'running',
        taskId: `task-run-${String(count + 1).padStart(16, '0')}`,
        tokenHash: 'mine',
      },
      appliesFor: [],
    });
    const keyHash = store.hashSecret(keyOf(run));
    const current = await store.reportPhase(run, 'plan', report, keyHash);
    expect(current).toMatchObject({ status: 'apply_queued', plan: { ready: { keyHash } } });
    expect(aws.sent).toEqual([]);
    return run;
  };
  const outputs = () => aws.sent.map(({ input }) => JSON.parse(String(input.output ?? null)));

  it('and stops before its claim leaves the apply to another one', async () => {
    const run = await reserved();
    await stops(run);
    expect(outputs()).toEqual([{ next: 'ApplyQueued' }]);
    await queue(run);
    expect(started(run)).toHaveLength(1);
    expect((await now(run)).apply.report).toBeUndefined();
    expect(await claim(run)).toBeUndefined();
  });

  it('and stops after its claim ends the apply as errored', async () => {
    const run = await reserved();
    expect(await claim(run)).toBeDefined();
    await stops(run);
    expect((await now(run)).apply.report).toMatchObject({ outcome: 'errored', lost: true });
  });

  it('cannot claim after a cancel', async () => {
    const run = await reserved();
    await store.updateRun(run.id, { set: { cancel: { by: 'u', at: '', forceAvailableAt: '' } } });
    expect(await poll(run)).toEqual({ action: 'exit' });
    expect(await claim(run)).toBeUndefined();
  });
});
