import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '../../functions/run/run.ts';
import type { Workspace } from '../../functions/workspaces/records.ts';
import { type Aws, startAws } from '../support/aws.ts';
import { newRun } from '../support/run.ts';

/** Whoever gives a run the lock may die before the run is told: no run holds a workspace without knowing. */

let aws: Aws;
let store: Awaited<ReturnType<typeof load>>;
const load = async () => ({
  ...(await import('../../functions/runs/records.ts')),
  ...(await import('../../functions/orchestration/new-run.ts')),
  ...(await import('../../functions/orchestration/queue.ts')),
  ...(await import('../../functions/orchestration/finish.ts')),
  ...(await import('../../functions/workspaces/records.ts')),
  ...(await import('../../functions/orchestration/locks.ts')),
  ...(await import('../../functions/store/table.ts')),
  ...(await import('../../functions/store/keys.ts')),
  sweep: (await import('../../functions/orchestration/sweep.ts')).handler,
});

beforeAll(async () => {
  aws = await startAws();
  store = await load();
});
afterAll(() => aws.close());

let count = 0;
const open = async (lock?: Workspace['lock']): Promise<string> => {
  const id = `ws-${String(++count).padStart(16, '0')}`;
  await store.create({ ...store.keys.workspace(id), id, organization: 'acme', runCount: 0, lock });
  return id;
};
const queued = (workspaceId: string): Promise<Run> => {
  const { id, number, status, ...options } = newRun();
  return store.createRun(workspaceId, options);
};
const isCurrent = async ({ id }: Run) => (await store.getRun(id))?.current === true;

/** @returns whether the work was cut off; each call to AWS in turn is where. */
const cutOff = async (n: number, when: 'before' | 'after', work: () => Promise<unknown>): Promise<boolean> => {
  aws.failCall(n, when);
  try {
    await work();
    return false;
  } catch {
    return true;
  } finally {
    aws.failCall(0, 'before');
  }
};

describe.each(['before', 'after'] as const)('after a crash %s any call', (when) => {
  it('the retried finisher starts the next run', async () => {
    for (let n = 1, more = true; more; n++) {
      const workspaceId = await open();
      const [first, second] = [await queued(workspaceId), await queued(workspaceId)];
      await store.startNext(workspaceId);
      await store.updateRun(second.id, { set: { wait: { state: 'Pending', token: second.id } } });
      const finish = () => store.finishRun(first.id, 'PlanErrored');
      more = await cutOff(n, when, finish);
      await finish();
      expect(await isCurrent(second), `cut off at call ${n}`).toBe(true);
      expect(aws.sent.map(({ input }) => input.taskToken)).toContain(second.id);
    }
  });

  it('the sweep completes an unlock', async () => {
    for (let n = 1, more = true; more; n++) {
      const workspaceId = await open({ kind: 'user', userId: 'user-1', reason: '', at: '' });
      const run = await queued(workspaceId);
      more = await cutOff(n, when, () => store.unlockWorkspace(workspaceId, 'user-1'));
      const key = store.keys.workspace(workspaceId);
      // A minute passes.
      await store.update(key, { set: { dueAt: '2020-01-01T00:00:00.000Z' }, condition: 'attribute_exists(dueAt)' });
      await store.sweep();
      const workspace = await store.get<Workspace & { dueAt?: string }>(key);
      expect(workspace?.lock?.kind === 'user' || (await isCurrent(run)), `cut off at call ${n}`).toBe(true);
      expect(workspace?.dueAt).toBeUndefined();
    }
  });
});

it('does not disturb the current run when another run leaves the queue', async () => {
  const workspaceId = await open();
  const [first, second] = [await queued(workspaceId), await queued(workspaceId)];
  await store.startNext(workspaceId);
  const at = (await store.getWorkspace(workspaceId))?.lock?.at;
  await store.finishRun(second.id, 'Canceled');
  expect(await store.getWorkspace(workspaceId)).toMatchObject({ lock: { runId: first.id, at } });
});
