import { describe, expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/**
 * A function that locks the workspace for a run can be interrupted before it resumes the run. Every other operation
 * can be interrupted at each call.
 */

const aws = await startAws();
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/creation/new-run.ts')),
  ...(await import('#lifecycle/queue/queue.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#resources/workspaces/records.ts')),
  ...(await import('#lifecycle/queue/locks.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  sweep: (await import('#lifecycle/repair/sweep.ts')).handler,
};

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

/** Does the work while its n-th call to AWS fails. @returns whether there was such a call */
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

describe.each(['before', 'after'] as const)('after a crash %s any call takes effect,', (when) => {
  it('the retried finisher starts the next run', async () => {
    for (let n = 1, more = true; more; n++) {
      const workspaceId = await open();
      const [first, second] = [await queued(workspaceId), await queued(workspaceId)];
      await store.startNext(workspaceId);
      await store.updateRun(second.id, { set: { wait: { state: 'Pending', token: second.id } } });
      const finish = () => store.finishRun(first.id, 'PlanErrored');
      more = await cutOff(n, when, finish);
      await finish();
      expect(await isCurrent(second), `the next run is current, cut off at call ${n}`).toBe(true);
      expect(aws.sent.map(({ input }) => input.taskToken)).toContain(second.id);
    }
  });

  it('a run that was being moved to the front still starts', async () => {
    for (let n = 1, more = true; more; n++) {
      const workspaceId = await open();
      const [first, second] = [await queued(workspaceId), await queued(workspaceId)];
      await store.startNext(workspaceId);
      more = await cutOff(n, when, () => store.moveToFront(second));
      await store.finishRun(first.id, 'PlanErrored');
      expect(await isCurrent(second), `cut off at call ${n}`).toBe(true);
    }
  });

  it('the sweep completes an unlock', async () => {
    for (let n = 1, more = true; more; n++) {
      const workspaceId = await open({ kind: 'user', userId: 'user-1', reason: '', at: '' });
      const run = await queued(workspaceId);
      more = await cutOff(n, when, () => store.unlockWorkspace(workspaceId, 'user-1'));
      const key = store.keys.workspace(workspaceId);
      // A minute later.
      await store.update(key, { set: { dueAt: '2020-01-01T00:00:00.000Z' }, condition: 'attribute_exists(dueAt)' });
      await store.sweep();
      const workspace = await store.get<Workspace & { dueAt?: string }>(key);
      expect(workspace?.lock?.kind === 'user' || (await isCurrent(run)), `cut off at call ${n}`).toBe(true);
      expect(workspace?.dueAt).toBeUndefined();
    }
  });
});

it('an ended run whose end is not visible everywhere yet leaves the queue', async () => {
  const workspaceId = await open();
  const [ended, next] = [await queued(workspaceId), await queued(workspaceId)];
  aws.stale = true;
  try {
    await store.updateRun(ended.id, { set: { status: 'canceled' } });
    expect(await store.startNext(workspaceId)).toBe(true);
  } finally {
    aws.stale = false;
  }
  expect(await isCurrent(next)).toBe(true);
});

it('another run that leaves the queue does not affect the current run', async () => {
  const workspaceId = await open();
  const [first, second] = [await queued(workspaceId), await queued(workspaceId)];
  await store.startNext(workspaceId);
  const at = (await store.getWorkspace(workspaceId))?.lock?.at;
  await store.finishRun(second.id, 'Canceled');
  expect(await store.getWorkspace(workspaceId)).toMatchObject({ lock: { runId: first.id, at } });
});

it('a confirmed plan does not take the lock of a user or of another run', async () => {
  const held = { kind: 'user' as const, userId: 'user-1', reason: '', at: 'now' };
  const workspaceId = await open(held);
  const [saved, moved] = [await queued(workspaceId), await queued(workspaceId)];
  await store.joinQueue(saved);
  expect((await store.getWorkspace(workspaceId))?.lock).toEqual(held);
  expect(await store.startNext(workspaceId), 'startNext reports no start').toBe(false);
  await store.unlockWorkspace(workspaceId, 'user-1');
  expect(await isCurrent(saved), 'the confirmed run is current after the unlock').toBe(true);
  await store.moveToFront(moved);
  await store.startNext(workspaceId);
  expect((await store.getWorkspace(workspaceId))?.lock).toMatchObject({ runId: saved.id });
  expect(await isCurrent(moved), 'the moved run is current beside another').toBe(false);
});

it('the claim of a run that ended before it became current is released', async () => {
  const workspaceId = await open();
  const [ended, next] = [await queued(workspaceId), await queued(workspaceId)];
  await store.updateRun(ended.id, { set: { status: 'canceled' } });
  expect(await store.claim(ended)).toBe(true);
  const { release } = await import('#lifecycle/queue/queue.ts');
  await release(ended);
  expect(await isCurrent(next), 'the released claim starts the next run').toBe(true);
  await release(next);
  expect((await store.getWorkspace(workspaceId))?.lock, 'a run in progress keeps its claim').toMatchObject({
    runId: next.id,
  });
});

it('a run that is not first in the queue, or no longer has the first place, cannot claim it', async () => {
  const workspaceId = await open({ kind: 'user', userId: 'user-1', reason: '', at: '' });
  const [first, second] = [await queued(workspaceId), await queued(workspaceId)];
  await store.update(store.keys.workspace(workspaceId), { remove: ['lock'] });
  expect(await store.claim(second), 'a run that is not first claims the workspace').toBe(false);
  expect((await store.getWorkspace(workspaceId))?.lock).toBeUndefined();
  expect(await store.claim({ ...first, place: (first.place ?? 0) + 1 }), 'the entry is of a former place').toBe(false);
  expect((await store.getWorkspace(workspaceId))?.lock).toBeUndefined();
  expect(await store.claim(first)).toBe(true);
  expect((await store.getWorkspace(workspaceId))?.lock).toMatchObject({ runId: first.id });
});

it('the next run starts even if the lock is released while startNext reads the queue', async () => {
  let calls = 0;
  for (let n = 1; n === 1 || calls >= n - 1; n++) {
    const workspaceId = await open({ kind: 'user', userId: 'user-1', reason: '', at: '' });
    const run = await queued(workspaceId);
    calls = 0;
    aws.gate = async () => {
      if (++calls !== n) return;
      aws.gate = undefined;
      await store.update(store.keys.workspace(workspaceId), { remove: ['lock'] });
    };
    const isStarted = await store.startNext(workspaceId);
    aws.gate = undefined;
    if (calls < n) break;
    expect([isStarted, await isCurrent(run)], `released before call ${n}`).toEqual([true, true]);
  }
  expect(calls, 'queue, run, lock and holder were looked at').toBe(4);
});

it('a run that is refused leaves no entry in the queue', async () => {
  const workspaceId = await open();
  await store.update(store.keys.workspace(workspaceId), { set: { deletedAt: '2026-01-01T00:00:00.000Z' } });
  await expect(queued(workspaceId)).rejects.toThrow('does not exist');
  const { firstEntries } = await import('#resources/workspaces/queue-entries.ts');
  expect(await firstEntries(workspaceId, 10)).toEqual([]);
});

it('the claim of a run that ends during the claim is released', async () => {
  const workspaceId = await open({ kind: 'user', userId: 'user-1', reason: '', at: '' });
  const [ending, next] = [await queued(workspaceId), await queued(workspaceId)];
  const { claimTurn } = await import('#lifecycle/queue/turns.ts');
  await store.updateRun(ending.id, { set: { status: 'canceled' } });
  await store.update(store.keys.workspace(workspaceId), { remove: ['lock'] });
  // With the run as the request that created it read it, before the cancel.
  expect((await claimTurn(ending)).current).toBeFalsy();
  expect(await isCurrent(next)).toBe(true);
});

it('the claim of a run that was never created is released', async () => {
  const workspaceId = await open();
  const next = await queued(workspaceId);
  const never = newRun({ id: `run-${String(++count).padStart(16, '0')}`, workspaceId });
  const lock = { kind: 'run', runId: never.id, at: '' };
  await store.update(store.keys.workspace(workspaceId), { set: { lock } });
  const { release } = await import('#lifecycle/queue/queue.ts');
  await release(never);
  expect(await isCurrent(next)).toBe(true);
});

it('a lock that an interrupted function took for an ended run is released', async () => {
  const workspaceId = await open();
  const ended = await queued(workspaceId);
  await store.finishRun(ended.id, 'Canceled');
  // The write of the lock took effect late (startNext).
  const lock = { kind: 'run', runId: ended.id, at: '' };
  await store.update(store.keys.workspace(workspaceId), { set: { lock } });
  const next = await queued(workspaceId);
  await store.startIfFree(workspaceId);
  expect(await isCurrent(next), 'the lock of an ended run stays').toBe(true);
  expect(await store.getWorkspace(workspaceId)).toMatchObject({ lock: { runId: next.id }, latestRunId: ended.id });
});

it('a run that was given the lock by an interrupted function starts, although another was moved to the front', async () => {
  const workspaceId = await open();
  const [claimed, moved] = [await queued(workspaceId), await queued(workspaceId)];
  expect(await store.claim(claimed), 'the function stopped after this').toBe(true);
  await store.updateRun(claimed.id, { set: { wait: { state: 'Pending', token: claimed.id } } });
  await store.moveToFront(moved);
  expect(await store.startNext(workspaceId)).toBe(true);
  expect([await isCurrent(claimed), await isCurrent(moved)]).toEqual([true, false]);
  expect(aws.sent.map(({ input }) => input.taskToken)).toContain(claimed.id);
  await store.finishRun(claimed.id, 'Canceled');
  expect(await isCurrent(moved), 'the moved run follows').toBe(true);
});

it('the lock of a run that was never created is released when the queue starts', async () => {
  const workspaceId = await open({ kind: 'run', runId: 'run-neverCreated0000', at: '' });
  const next = await queued(workspaceId);
  expect(await store.startNext(workspaceId)).toBe(true);
  expect(await isCurrent(next)).toBe(true);
});

it('an unlock succeeds although the lock changes up to three times meanwhile, and returns the workspace', async () => {
  const userLock = { kind: 'user' as const, userId: 'user-1', reason: '', at: '' };
  const unlockAfter = async (changes: number) => {
    const workspaceId = await open(userLock);
    let calls = 0;
    const gate = async () => {
      // Each attempt reads and writes.
      if (++calls % 2 === 1 || calls > 2 * changes) return;
      aws.gate = undefined;
      await store.update(store.keys.workspace(workspaceId), { set: { lock: { ...userLock, at: `${calls}` } } });
      aws.gate = gate;
    };
    aws.gate = gate;
    const unlocked = await store.unlockWorkspace(workspaceId, 'user-1');
    aws.gate = undefined;
    return { id: workspaceId, unlocked, lock: (await store.getWorkspace(workspaceId))?.lock };
  };
  for (const changes of [0, 3]) {
    const { id, unlocked, lock } = await unlockAfter(changes);
    expect([unlocked?.id, lock]).toEqual([id, undefined]);
  }
  expect(await unlockAfter(4)).toMatchObject({ unlocked: undefined, lock: { kind: 'user' } });
});

it('a new place is behind one that was taken with a faster clock', async () => {
  const workspaceId = await open();
  const future = (Date.now() + 3_600_000) * 1000;
  const place = `${future.toString(36).padStart(10, '0')}aaaaaaaaaaaaaaaa`;
  await store.update(store.keys.workspace(workspaceId), { set: { place } });
  const run = await queued(workspaceId);
  expect(run.place).toBeGreaterThan(future);
  expect(run.place).toBeLessThan(future + 10_000_000);
});

it('a run that is no longer pending cannot be moved to the front', async () => {
  const workspaceId = await open();
  const [first, second, third] = [await queued(workspaceId), await queued(workspaceId), await queued(workspaceId)];
  await store.updateRun(third.id, { set: { status: 'canceled' } });
  expect(await store.moveToFront(third)).toBe(false);
  await store.updateRun(first.id, { set: { current: true } });
  expect(await store.moveToFront(first), 'its turn has come').toBe(false);
  expect(await store.moveToFront(second)).toBe(true);
  expect(await store.moveToFront((await store.getRun(second.id)) as Run), 'a second time').toBe(true);
  const { firstEntries } = await import('#resources/workspaces/queue-entries.ts');
  const entries = await firstEntries(workspaceId, 10);
  expect(entries.map(({ runId, place }) => [runId, place])).toEqual([
    [second.id, 0],
    [first.id, first.place],
    [third.id, third.place],
  ]);
});

describe('a workspace without runs in progress', () => {
  const entry = async (workspaceId: string, run: Partial<Run>, at: string) => {
    const id = `run-${String(++count).padStart(16, '0')}`;
    if (run.status) await store.create({ ...store.keys.run(id), ...newRun({ id, workspaceId, ...run }) });
    await store.put({ ...store.keys.queued(workspaceId, 7, id), runId: id, place: 7, at });
    return id;
  };
  const long = '2026-01-01T00:00:00.000Z';
  it('stays marked for the sweep while an unlock finds a run that is being created', async () => {
    const workspaceId = await open({ kind: 'user', userId: 'user-1', reason: '', at: '' });
    await entry(workspaceId, {}, new Date().toISOString());
    await store.unlockWorkspace(workspaceId, 'user-1');
    const { dueAt = '' } = (await store.get<{ dueAt?: string }>(store.keys.workspace(workspaceId))) ?? {};
    const seconds = (Date.parse(dueAt) - Date.now()) / 1000;
    expect(seconds, 'the sweep checks after the time limit of the creation').toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(61);
  });

  it.each([
    ['never created its run', {}, long, false],
    ['is creating its run', {}, new Date().toISOString(), true],
    ['created a run that has ended', { status: 'applied', place: 7 }, long, false],
    ['created a run that was moved since', { status: 'pending', place: 8 }, long, false],
    ['created a run that waits', { status: 'pending', place: 7 }, long, true],
  ] as const)('finds out whether a run is next if a function %s', async (_, run, at, isNext) => {
    const workspaceId = await open();
    const id = await entry(workspaceId, run, at);
    const { firstQueued } = await import('#resources/workspaces/queue-entries.ts');
    expect(await firstQueued(workspaceId)).toBe(isNext ? id : undefined);
  });
});
