import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { type StartedContainer, startAws, taskArnOf } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** Ready runners: which run gets which one, how the others end, and the limit of their number. */

const minutes = 60_000;
const want = (count: number, more: object = {}) => {
  process.env.WARM_RUNNERS = count ? JSON.stringify({ count, pollMs: 5, ...more }) : '';
};

const aws = await startAws();
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#lifecycle/decisions/decisions.ts')),
  ...(await import('#lifecycle/runners/launcher.ts')),
  ...(await import('#lifecycle/runners/stray-runners.ts')),
  ...(await import('#lifecycle/runners/ready-runners.ts')),
  ...(await import('#lifecycle/runners/warm-runners.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#platform/store/id.ts')),
  planQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  runnerStopped: (await import('#lifecycle/runners/runner-stopped.ts')).handler,
};
afterAll(() => want(0));
beforeEach(async () => {
  want(0);
  aws.failCall(0, 'before');
  aws.refusal = undefined;
  aws.containers.length = 0;
  await store.remove(store.keys.warmPool);
});

let count = 0;
const queued = async (): Promise<Run> => {
  const n = String(++count).padStart(16, '0');
  const run = newRun({ id: `run-${n}`, workspaceId: `ws-${n}`, status: 'pending', current: true });
  const { organization, workspaceId: id } = run;
  await store.create({ ...store.keys.workspace(id), id, organization, runCount: 1 });
  await store.create({ ...store.keys.run(run.id), ...run });
  return run;
};
const start = (run: Run) => store.planQueued({ runId: run.id, token: `${run.id} token` });
const planOf = async (run: Run) => (await store.getRun(run.id))?.plan as Run['plan'];
const warm = () => aws.containers.filter(({ startedBy }) => startedBy.startsWith('warm-'));
const cold = () => aws.containers.filter(({ startedBy }) => startedBy.startsWith('run-'));

/** The program in a ready container, step by step. */
const runnerIn = ({ environment }: StartedContainer) => {
  const key = randomBytes(32).toString('base64url');
  const claim = environment.STEPFORM_CLAIM as string;
  const ask = () => store.answerReady(claim, key);
  return {
    key,
    claim,
    ask,
    /** Polls until there is a run, and then claims it. */
    work: async () => {
      for (;;) {
        const answer = await ask();
        if (answer?.action !== 'wait') {
          if (answer?.action !== 'claim') return answer;
          return store.claimPhase(`${answer.claim}.${key}`, 'nonce');
        }
        await new Promise((resolve) => setTimeout(resolve, answer.afterMs));
      }
    },
  };
};
/** A ready container, and the program in it. */
const ready = async (startedAt = new Date()) => {
  await store.startWarmRunner(startedAt);
  const container = warm().at(-1) as StartedContainer;
  const runner = runnerIn(container);
  await runner.ask();
  return { container, runner };
};
const stoppedEvent = ({ taskId, startedBy }: StartedContainer) => ({
  detail: { taskArn: taskArnOf(taskId), startedBy },
});

it('the pool costs no request without the setting', async () => {
  const run = await queued();
  const before = aws.calls;
  await store.keepWarmRunners();
  expect(aws.calls).toBe(before);
  await start(run);
  // Read, RunTask, and the write of the claim and the container's ARN, as without the pool.
  expect(aws.calls - before).toBe(3);
  expect([warm().length, cold().length]).toEqual([0, 1]);
});

it('the pool has as many runners as configured, even with concurrent starts', async () => {
  want(3);
  await Promise.all([store.keepWarmRunners(), store.keepWarmRunners()]);
  expect(warm()).toHaveLength(3);
  await store.keepWarmRunners();
  expect(warm()).toHaveLength(3);
});

it('a run gets a ready runner, which is replaced', async () => {
  want(1);
  const { container, runner } = await ready();
  const run = await queued();
  const [, claimed] = await Promise.all([start(run), runner.work()]);
  expect(claimed).toMatchObject({ phase: 'plan', run: { id: run.id } });
  expect(await planOf(run)).toMatchObject({ taskId: container.taskId, claimNonce: 'nonce' });
  expect(cold()).toEqual([]);
  expect(warm()).toHaveLength(2);
  // The runner belongs to that run for good: none of its requests gets it another one.
  await start(await queued());
  expect(await runner.ask()).toEqual({ action: 'claim', claim: `${run.id}.plan` });
  expect(cold()).toHaveLength(1);
});

it('of two runs, one gets the only ready runner and the other a container', async () => {
  want(1);
  const { runner } = await ready();
  const runs = [await queued(), await queued()];
  await Promise.all([...runs.map(start), runner.work()]);
  const claimed = (await Promise.all(runs.map(planOf))).filter(({ claimNonce }) => claimNonce);
  expect(claimed).toHaveLength(1);
  expect(cold()).toHaveLength(1);
});

it("a run gets a container if its ready runner does not claim, and that runner's key becomes void", async () => {
  want(1);
  const { runner } = await ready();
  const run = await queued();
  await start(run);
  expect(cold()).toMatchObject([{ startedBy: run.id }]);
  expect(await store.claimPhase(`${run.id}.plan.${runner.key}`, 'late')).toBeUndefined();
  const container = cold()[0]?.environment.STEPFORM_CLAIM as string;
  expect(await store.claimPhase(container, 'nonce')).toMatchObject({ run: { id: run.id } });
  expect((await planOf(run)).taskId).toBe(cold()[0]?.taskId);
}, 20_000);

it('a run that ends while a ready runner is reserved for it gets no container', async () => {
  want(1);
  await ready();
  const run = await queued();
  const starting = start(run);
  while (!(await planOf(run)).claimHash) await new Promise((resolve) => setImmediate(resolve));
  await store.updateRun(run.id, { set: { status: 'errored' } });
  await starting;
  expect(cold()).toEqual([]);
});

it('the secret is rejected after the runner registered', async () => {
  want(1);
  const { container, runner } = await ready();
  const thief = runnerIn(container);
  expect(await thief.ask()).toBeUndefined();
  const run = await queued();
  await Promise.all([start(run), runner.work()]);
  expect(await thief.ask()).toBeUndefined();
  // Neither its key nor the container's secret claims the run.
  const secret = container.environment.STEPFORM_CLAIM?.split('.')[1];
  for (const stolen of [thief.key, secret])
    expect(await store.claimPhase(`${run.id}.plan.${stolen}`, 'nonce')).toBeUndefined();
  expect(await store.answerReady(`warm-0000000000000000.${secret}`, thief.key)).toBeUndefined();
});

it('a runner that was killed is replaced, and no run gets it', async () => {
  want(1);
  const { container } = await ready();
  container.stopped = true;
  await store.runnerStopped(stoppedEvent(container));
  await start(await queued());
  expect(cold()).toHaveLength(1);
  await store.keepWarmRunners();
  expect(warm().filter(({ stopped }) => !stopped)).toHaveLength(1);
});

it('the plan of a runner that was killed after its claim ends, once', async () => {
  want(1);
  const { container, runner } = await ready();
  const run = await queued();
  await Promise.all([start(run), runner.work()]);
  await store.runnerStopped(stoppedEvent(container));
  await store.runnerStopped(stoppedEvent(container));
  expect((await planOf(run)).report).toMatchObject({ outcome: 'errored' });
  expect(aws.sent.filter(({ input }) => input.taskToken === `${run.id} token`).map(({ action }) => action)).toEqual([
    'SendTaskFailure',
  ]);
});

it('runners of an older version, unregistered ones and silent ones are retired', async () => {
  want(3, { version: 'old' });
  const { runner } = await ready();
  want(3, { version: 'new' });
  await start(await queued());
  expect(cold()).toHaveLength(1);
  await store.keepWarmRunners();
  expect(await runner.ask()).toEqual({ action: 'exit' });
  expect(warm()).toHaveLength(4);
  const second = runnerIn(warm()[1] as StartedContainer);
  await second.ask();
  await store.keepWarmRunners(new Date(Date.now() + 2 * minutes));
  // The silent runner has a replacement; those that are starting have more time.
  expect(await second.ask()).toEqual({ action: 'exit' });
  expect(warm()).toHaveLength(5);
  await store.keepWarmRunners(new Date(Date.now() + 6 * minutes));
  expect(warm()).toHaveLength(7);
});

it('the pool is empty outside the configured hours', async () => {
  const hours = { days: [1], from: 0, to: 720, timeZone: 'UTC' };
  want(2, { hours });
  await store.keepWarmRunners(new Date('2026-11-23T11:59:00Z'));
  expect(warm()).toHaveLength(2);
  const runner = runnerIn(warm()[0] as StartedContainer);
  await runner.ask();
  await store.keepWarmRunners(new Date('2026-11-23T12:00:00Z'));
  expect(await runner.ask()).toEqual({ action: 'exit' });
  expect(warm()).toHaveLength(2);
});

it('a run does not fail when there is no capacity for the next runner', async () => {
  want(1);
  const { runner } = await ready();
  const run = await queued();
  aws.refusal = { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time.' }] };
  const [, claimed] = await Promise.all([start(run), runner.work()]);
  expect(claimed).toMatchObject({ run: { id: run.id } });
  aws.refusal = undefined;
  await store.keepWarmRunners();
  expect(warm()).toHaveLength(2);
});

it('a run continues after a crash between the two writes of a reservation', async () => {
  want(1);
  const { runner } = await ready();
  const run = await queued();
  // Read of the run, its write, reads of the pool and of the runners, the reservation, and the next call fails.
  aws.failCall(6, 'before');
  await expect(start(run)).rejects.toThrow();
  expect(await runner.ask()).toMatchObject({ action: 'wait' });
  await store.keepWarmRunners();
  expect(warm()).toHaveLength(2);
  await start(run);
  expect(cold()).toHaveLength(1);
  expect((await planOf(run)).taskId).toBe(cold()[0]?.taskId);
});

it('a runner has to exit when its run was canceled meanwhile', async () => {
  want(1);
  const { runner } = await ready();
  const run = await queued();
  await store.updateRun(run.id, { set: { status: 'plan_queued', 'plan.status': 'queued' } });
  await store.decide((await store.getRun(run.id)) as Run, 'cancel', 'user-1');
  await start(run);
  expect(cold()).toEqual([]);
  expect((await planOf(run)).claimHash).toBeUndefined();
  expect(await runner.ask()).toMatchObject({ action: 'wait' });
});

it('the sweep stops retired runners that hang, but no ready or working ones', async () => {
  want(2);
  const idle = await ready();
  const busy = await ready(new Date(Date.now() - 10_000));
  const run = await queued();
  const [, claimed] = await Promise.all([start(run), Promise.race([idle.runner.work(), busy.runner.work()])]);
  expect(claimed).toMatchObject({ run: { id: run.id } });
  expect((await planOf(run)).taskId, 'the older runner is assigned first').toBe(busy.container.taskId);
  const inAnHour = Date.now() + 60 * minutes;
  const stray = async (now: number) => store.stopStrayRunners(await store.runningContainers(), now);
  expect(await stray(inAnHour)).toEqual([]);
  // The setting is removed: only the working runner stays.
  want(0);
  const stopped = await stray(inAnHour);
  expect(stopped).toHaveLength(warm().length - 1);
  expect(warm().find(({ stopped: gone }) => !gone)?.taskId).toBe((await planOf(run)).taskId);
  await store.updateRun(run.id, {
    set: { status: 'errored', 'statusTimestamps.errored-at': new Date().toISOString() },
  });
  expect(await stray(inAnHour)).toHaveLength(1);
});
