import { afterEach, expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { collectLog } from '#test/support/logged.ts';
import { newRun, queueEntry } from '#test/support/run.ts';

/** Everything that can be left incomplete and that the sweep completes. For queues see interrupted-queue.test.ts. */

const aws = await startAws();
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/runners/launcher.ts')),
  ...(await import('#platform/store/due.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  sweep: (await import('#lifecycle/repair/sweep.ts')).handler,
  executionStopped: (await import('#lifecycle/repair/execution-stopped.ts')).handler,
};
const lines = collectLog('warn', 'error');
afterEach(() => {
  lines.length = 0;
  aws.executionStatus = undefined;
});

let count = 0;
const minutesAgo = (n: number): string => new Date(Date.now() - n * 60_000).toISOString();

/** A run that is due at the next sweep and holds its workspace. */
const due = async (set: Partial<Run>, workspace: Partial<Workspace> = {}): Promise<Run> => {
  const id = `run-${String(++count).padStart(16, '0')}`;
  const run = newRun({ id, workspaceId: `ws-${id}`, place: 1, current: true, ...set });
  const lock = { kind: 'run', runId: id, at: '' };
  await store.create({
    ...store.keys.workspace(run.workspaceId),
    id: run.workspaceId,
    runCount: 2,
    lock,
    ...workspace,
  });
  await store.create({ ...store.keys.run(id), ...run, ...store.dueIn(id, -60) });
  await store.put(queueEntry(run));
  return run;
};
const now = async ({ id }: Run) => (await store.getRun(id)) as Run & { dueAt?: string };
const answers = ({ id }: Run) => aws.sent.filter(({ input }) => input.taskToken === `${id} token`);
const waits = (state: string, set: Partial<Run>) =>
  due({ ...set }).then(async (run) => {
    await store.updateRun(run.id, { set: { wait: { state, token: `${run.id} token` } } });
    return run;
  });
const repairs = () => lines.map(({ message, repair }) => repair ?? message);

it('the sweep costs nine reads and no write in a healthy system', async () => {
  const [calls, itemsRead] = [aws.calls, aws.itemsRead];
  expect(await store.sweep()).toEqual({ looked: 0, repaired: 0 });
  expect([aws.calls - calls, aws.itemsRead - itemsRead]).toEqual([9, 0]);
  expect(lines).toEqual([]);
});

it.each([
  ['FAILED', /execution failed/],
  ['ABORTED', /was stopped by an operator/],
  ['TIMED_OUT', /exceeded the maximum duration of a run/],
] as const)('the sweep finishes a run whose execution %s, and starts the next', async (status, reason) => {
  const run = await due({ status: 'planning', plan: { status: 'running', statusTimestamps: {} } });
  const next = newRun({ id: `${run.id.slice(0, -1)}n`, workspaceId: run.workspaceId, number: 2, place: 2 });
  await store.create({ ...store.keys.run(next.id), ...next });
  await store.put(queueEntry(next));
  aws.executionStatus = () => status;
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 1 });
  expect(await now(run)).toMatchObject({ status: 'errored', endReason: expect.stringMatching(reason) });
  expect((await now(run)).dueAt).toBeUndefined();
  expect((await now(next)).current).toBe(true);
  expect(lines).toMatchObject([{ level: 'warn', message: 'repaired', repair: 'run finished', item: `RUN#${run.id}` }]);
});

it('the sweep starts a missing execution', async () => {
  const run = await due({ status: 'pending' });
  aws.executionStatus = () => undefined;
  await store.sweep();
  expect(aws.sent.filter(({ action, input }) => action === 'StartExecution' && input.name === run.id)).toHaveLength(1);
  expect(repairs()).toEqual(['execution started']);
});

it.each<[string, string, Partial<Run>, string]>([
  ['a cancel', 'Pending', { cancel: { by: 'user-1', at: '', forceAvailableAt: '' } }, 'SendTaskFailure'],
  ['a turn', 'Pending', {}, 'SendTaskSuccess'],
  [
    'a report',
    'Planning',
    { status: 'planning', plan: { status: 'running', statusTimestamps: {}, report: { outcome: 'finished' } } },
    'SendTaskSuccess',
  ],
  [
    'a decision',
    'NeedsConfirmation',
    { status: 'planned', decision: { action: 'discard', by: 'user-1', at: '' } },
    'SendTaskFailure',
  ],
])('the sweep delivers %s that was recorded', async (_, state, set, action) => {
  const run = await waits(state, set);
  await store.sweep();
  expect(answers(run).map((answer) => answer.action)).toEqual([action]);
  expect(repairs()).toEqual(['answer delivered']);
  // Checked again soon, because the notified function may not have received the event.
  expect((await now(run)).dueAt).toBeDefined();
});

it('the sweep withdraws a reservation without a claim, and starts a runner for a queued phase without one', async () => {
  const apply = { status: 'queued', statusTimestamps: {}, claimHash: 'key' } as const;
  const report = { outcome: 'finished', hasChanges: true } as const;
  const planned = { status: 'finished', statusTimestamps: {}, report, ready: { keyHash: 'key', until: '' } } as const;
  const ahead = { status: 'apply_queued', autoApply: true, plan: planned } as const;
  const reserved = await waits('Planning', { ...ahead, apply });
  const claimed = await waits('Planning', { ...ahead, apply: { ...apply, claimNonce: 'n' } });
  const left = await waits('ApplyQueued', { ...ahead, apply });
  const plan = { status: 'queued', statusTimestamps: {} } as const;
  const starting = await waits('PlanQueued', { status: 'plan_queued', plan });
  const entering = await waits('Pending', { status: 'plan_queued', plan });
  await store.sweep();
  expect((await now(reserved)).plan.ready).toBeUndefined();
  const outputs = [reserved, claimed].map((run) => answers(run).map(({ input }) => JSON.parse(String(input.output))));
  expect(outputs).toEqual([[{ next: 'ApplyQueued' }], [{ next: 'Applying' }]]);
  expect((await now(left)).apply.claimHash).not.toBe('key');
  const started = aws.containers.map(({ startedBy }) => startedBy);
  expect(started).toEqual(expect.arrayContaining([left.id, starting.id]));
  expect([reserved.id, claimed.id, entering.id].filter((id) => started.includes(id))).toEqual([]);
  expect(repairs()).toEqual(expect.arrayContaining(['reservation withdrawn', 'runner started']));
  expect(Date.parse((await now(starting)).dueAt as string)).toBeLessThan(Date.now() + 61_000);
});

it('the sweep starts the first run of a free workspace, and checks a healthy run every five minutes', async () => {
  const run = await waits('Pending', { current: undefined });
  await store.update(store.keys.workspace(run.workspaceId), { remove: ['lock'] });
  await store.sweep();
  expect((await now(run)).current).toBe(true);
  const created = await due({ status: 'pending' });
  lines.length = 0;
  await store.sweep();
  expect(Date.parse((await now(created)).dueAt as string), 'its execution begins').toBeGreaterThan(
    Date.now() + 290_000,
  );
  expect(lines).toEqual([]);
  const version = { id: 'cv-uploaded', status: 'uploaded' };
  await store.put({ ...store.keys.configurationVersion(version.id), ...version });
  const planning = await waits('Planning', { status: 'planning', configurationVersionId: version.id });
  const waitsForIt = { configurationVersionId: version.id, checks: { fetching: true }, verdicts: {} } as const;
  const fetching = await waits('Fetching', { status: 'fetching', ...waitsForIt });
  await store.sweep();
  expect((await now(fetching)).verdicts, 'whose upload was not reported').toEqual({ fetching: 'passed' });
  expect((await now(planning)).verdicts).toBeUndefined();
  const next = Date.parse((await now(planning)).dueAt as string) - Date.now();
  expect(next).toBeGreaterThan(290_000);
  expect(next).toBeLessThan(3_700_000);
});

it('a run whose runner is stopping is due again in a minute, and is no failed repair', async () => {
  const plan = { status: 'running', statusTimestamps: {}, taskId: 'stubborn', claimNonce: 'n' } as const;
  const run = await due({ status: 'planning', plan });
  const container = { taskId: 'stubborn', startedBy: run.id, environment: {}, createdAt: 0, ignoresStop: true };
  aws.containers.push(container);
  aws.executionStatus = () => 'ABORTED';
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 0 });
  expect(lines).toEqual([]);
  expect(Date.parse((await now(run)).dueAt as string)).toBeLessThan(Date.now() + 61_000);
  Object.assign(container, { ignoresStop: false });
  await store.updateRun(run.id, { set: store.dueIn(run.id, -60) });
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 1 });
  aws.containers.length = 0;
});

it.each([
  [{ status: 'FAILED', error: 'E', cause: 'C' }, 'Its execution failed (E: C).'],
  [{ status: 'FAILED', error: 'E', cause: null }, 'Its execution failed (E).'],
  [{ status: 'ABORTED' }, 'Its execution was stopped by an operator.'],
  [{ status: 'ODD' }, 'Its execution ended as ODD.'],
])('a run whose execution ended with %j says so', async (detail, reason) => {
  const run = await due({ status: 'applying', apply: { status: 'running', statusTimestamps: {} } });
  await store.executionStopped({ detail: { name: run.id, ...detail } });
  const ended = await now(run);
  expect(ended.endReason).toContain(reason);
  expect([ended.apply.status, ended.dueAt]).toEqual(['errored', undefined]);
  await store.executionStopped({ detail: { name: 'run-none', ...detail } });
});

it.each([
  ['RETENTION', 'DataRetentionFunction', []],
  ['DELIVERY', 'VersionControlEventFunction', undefined],
  ['ARCHIVE', 'VersionControlEventFunction', undefined],
  ['COMMIT', 'VersionControlEventFunction', undefined],
  ['REPO', 'VersionControlEventFunction', undefined],
  ['OC', 'VersionControlEventFunction', undefined],
  ['OT', 'VersionControlEventFunction', undefined],
  ['GHAIN', 'VersionControlEventFunction', undefined],
])('the sweep passes a due item of kind %s to %s, which is no repair', async (kind, name, list) => {
  const key = { pk: `${kind}#1`, sk: `${kind}#x` };
  await store.put({ ...key, ...store.dueIn(key.pk, -60) });
  const before = aws.invoked.length;
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 0 });
  expect(aws.invoked.slice(before)).toEqual([{ name, event: { due: list ? [key] : key } }]);
  await store.remove(key);
});

it('the sweep reports an item of an unknown kind, and an execution whose status it cannot read', async () => {
  const key = { pk: 'NEW#1', sk: 'NEW' };
  await store.put({ ...key, ...store.dueIn(key.pk, -60) });
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 0 });
  expect(lines).toMatchObject([
    { message: 'repair failed', error: expect.stringContaining('kind NEW'), item: 'NEW#1' },
  ]);
  await store.remove(key);
  const run = await waits('Planning', { status: 'planning' });
  lines.length = 0;
  // Eight index partitions, the run, then its execution.
  aws.failCall(10, 'before');
  await store.sweep();
  expect(repairs()).toEqual(['repair failed']);
  expect(aws.sent.filter(({ action, input }) => action === 'StartExecution' && input.name === run.id)).toEqual([]);
  await store.sweep();
});

it('the sweep does not change runs that await a decision', async () => {
  const run = await waits('NeedsConfirmation', { status: 'planned' });
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 0 });
  expect(answers(run)).toEqual([]);
  expect(Date.parse((await now(run)).dueAt as string)).toBeGreaterThan(Date.now() + 1_800_000);
});

it('the sweep only moves the entry of a run that is due later', async () => {
  const run = await waits('Planning', { status: 'planning' });
  const checkAt = new Date(Date.now() + 600_000).toISOString();
  await store.update(store.keys.run(run.id), { set: { checkAt, dueAt: minutesAgo(1) } });
  const { calls } = aws;
  expect(await store.sweep()).toEqual({ looked: 1, repaired: 0 });
  // Eight parts of the index, the run, its entry, and ECS.
  expect(aws.calls - calls).toBe(11);
  expect(await now(run)).toMatchObject({ dueAt: checkAt, checkAt });
  expect(await store.sweep()).toEqual({ looked: 0, repaired: 0 });
});

it("a run's entry moves only if it is due too late, also if the sweep postponed it after it was read", async () => {
  const run = await waits('Planning', { status: 'planning' });
  const inSeconds = (n: number) => new Date(Date.now() + n * 1000).toISOString();
  const early = inSeconds(10);
  expect(store.checkIn(run.id, 60, { dueAt: early })).not.toHaveProperty('dueAt');
  expect(store.checkIn(run.id, 5, { dueAt: early })).toHaveProperty('dueAt');
  expect(store.checkIn(run.id, 60)).toHaveProperty('dueAt');
  // Based on a read before the sweep postponed the entry by an hour.
  const change = store.checkIn(run.id, 60, { dueAt: early });
  await store.updateRun(run.id, { set: { dueAt: inSeconds(3600) } });
  expect(await store.updateRun(run.id, { set: change })).toMatchObject({
    dueAt: change.checkAt,
    checkAt: change.checkAt,
  });
});

it('the sweep removes an ended run from the queue after its finisher crashed', async () => {
  const run = await due({ status: 'errored' });
  await store.sweep();
  expect(await store.get<Workspace>(store.keys.workspace(run.workspaceId))).not.toHaveProperty('lock');
  expect(repairs()).toEqual(['queue left']);
});

it('the sweep discards only stale saved plans', async () => {
  const state = { id: 'sv-2', serial: 2, lineage: 'l', md5: '', at: '', resources: 0 };
  const plan = (basis: string): Run['plan'] => ({ status: 'finished', statusTimestamps: {}, basis });
  const saved = { status: 'planned_and_saved', savePlan: true, current: undefined } as const;
  const token = { wait: { state: 'PlannedAndSaved', token: 'token' } };
  const stale = await due({ ...saved, ...token, plan: plan('sv-1') }, { state, lock: undefined });
  const good = await due({ ...saved, ...token, plan: plan('sv-2') }, { state, lock: undefined });
  expect(await store.sweep()).toEqual({ looked: 2, repaired: 1 });
  expect((await now(stale)).decision).toMatchObject({
    action: 'discard',
    reason: expect.stringMatching(/has changed/),
  });
  expect((await now(good)).decision).toBeUndefined();
  expect(repairs()).toEqual(['stale plan discarded']);
});

it('the sweep continues with other runs when one repair fails', async () => {
  await due({ status: 'errored' });
  await due({ status: 'errored' });
  // Eight index partitions, then the first run's read fails; the containers are listed last.
  aws.failCall(9, 'before');
  expect(await store.sweep()).toEqual({ looked: 2, repaired: 1 });
  expect(repairs().sort()).toEqual(['queue left', 'repair failed']);
  await store.sweep();
});

it('the sweep stops only containers that no run needs', async () => {
  const start = async (set: Partial<Run>) => {
    const run = newRun({ id: `run-${String(++count).padStart(16, '0')}`, ...set });
    await store.create({ ...store.keys.run(run.id), ...run });
    const taskId = `task-${run.id}`;
    const container = { taskId, startedBy: run.id, environment: {}, createdAt: Date.parse(minutesAgo(600)) / 1000 };
    aws.containers.push(container);
    return { container, taskId };
  };
  const phase = { status: 'finished', statusTimestamps: {}, report: { outcome: 'finished' } } as const;
  const over = await start({ status: 'applied', statusTimestamps: { 'applied-at': minutesAgo(6) } });
  const justOver = await start({ status: 'applied', statusTimestamps: { 'applied-at': minutesAgo(1) } });
  const atWork = await start({ status: 'planning' });
  const ready = await start({ status: 'planned' });
  const late = await start({ status: 'planned' });
  const hanging = await start({ status: 'planned' });
  const applies = await start({ status: 'applying' });
  const until = (minutes: number) => ({ ready: { keyHash: 'key', until: minutesAgo(minutes) } });
  for (const [{ taskId, container }, plan, apply] of [
    [ready, until(0), {}],
    [late, until(6), {}],
    [hanging, { statusTimestamps: { 'finished-at': minutesAgo(6) } }, {}],
    [applies, until(60), { taskId: applies.taskId }],
  ] as const)
    await store.updateRun(container.startedBy, {
      set: {
        plan: { ...phase, taskId, ...plan },
        apply: { status: 'pending', statusTimestamps: {}, ...apply },
      },
    });
  const unknown = { taskId: 'unknown', startedBy: 'run-unknown', environment: {} };
  const many = Array.from({ length: 150 }, (_, n) => ({
    ...unknown,
    taskId: `many-${n}`,
    startedBy: `run-many-${n}`,
    createdAt: 0,
  }));
  aws.containers.push(...many);
  expect(await store.sweep()).toEqual({ looked: 0, repaired: 153 });
  expect(new Set(lines.splice(0).map(({ item }) => item)).size).toBe(153);
  const old = { ...unknown, createdAt: Date.parse(minutesAgo(6)) / 1000 };
  const young = { ...unknown, taskId: 'young', createdAt: Date.parse(minutesAgo(1)) / 1000 };
  aws.containers.push(old, young);

  expect(await store.sweep()).toEqual({ looked: 0, repaired: 1 });
  const stopped = aws.containers.filter((one) => one.stopped && !many.some(({ taskId }) => taskId === one.taskId));
  expect(stopped.map(({ taskId }) => taskId)).toEqual([over.taskId, late.taskId, hanging.taskId, old.taskId]);
  expect(repairs()).toEqual(['container stopped']);
  expect([justOver, atWork, ready, applies].some(({ container }) => 'stopped' in container)).toBe(false);
  expect(await store.sweep()).toEqual({ looked: 0, repaired: 0 });
});

it('the sweep stops the runs of a deleted workspace, newest first, and removes it when they have ended', async () => {
  const { deleteWorkspace, getEndedWorkspace } = await import('#removal/workspaces.ts');
  const run = await waits('NeedsConfirmation', { status: 'planned', createdAt: minutesAgo(2) });
  const queued = newRun({
    id: `${run.id}b`,
    workspaceId: run.workspaceId,
    number: 2,
    place: 2,
    createdAt: minutesAgo(1),
  });
  await store.create({ ...store.keys.run(queued.id), ...queued });
  await store.put(queueEntry(queued));
  for (const { id, createdAt, workspaceId } of [run, queued]) {
    await store.put({ ...store.keys.openRun(run.organization, createdAt, id), runId: id, workspaceId });
  }
  const { organization, workspaceId: id } = run;
  const workspace = { id, organization, name: id, projectId: 'prj-1', runCount: 2 } as Workspace;
  await store.update(store.keys.workspace(id), { set: { organization, name: id, projectId: 'prj-1' } });

  expect(await deleteWorkspace(workspace, { by: 'user-1' })).toBe(false);
  expect(await deleteWorkspace(workspace, { by: 'user-1', force: true })).toBe(true);
  await store.sweep();

  expect((await now(run)).decision).toMatchObject({ action: 'discard', by: 'user-1' });
  const second = await store.getRun(queued.id);
  expect(second?.decision ?? second?.cancel).toMatchObject({ by: 'user-1' });
  expect(await getEndedWorkspace(id)).toMatchObject({ isDetached: true });
  for (const { id: runId, createdAt } of [run, queued]) {
    await store.remove(store.keys.openRun(organization, createdAt, runId));
  }
  await store.update(store.keys.workspace(id), { set: { dueAt: minutesAgo(1) } });
  await store.sweep();
  expect(await store.get(store.keys.workspace(id))).toBeUndefined();
});

it('the sweep splits a thousand due environments into eight lists of at most fifty', async () => {
  const only = { pk: 'ENV#only', sk: 'ENV' };
  await store.put({ ...only, ...store.dueIn('only', -60) });
  await store.sweep();
  expect(aws.invoked.at(-1)?.event).toEqual({ due: [only] });
  await store.remove(only);
  const ids = Array.from({ length: 1000 }, (_, n) => `${n.toString(16).padStart(8, '0')}`);
  for (const id of ids) await store.put({ pk: `ENV#${id}`, sk: 'ENV', ...store.dueIn(id, -60) });
  const before = aws.invoked.length;
  await store.sweep();
  const lists = aws.invoked
    .slice(before)
    .filter(({ name }) => name === 'EnvironmentSweepFunction')
    .map(({ event }) => (event as { due: { pk: string; sk: string }[] }).due);
  for (const key of lists.flat()) expect(key).toEqual({ pk: expect.stringMatching(/^ENV#/), sk: 'ENV' });
  expect(lists).toHaveLength(8);
  expect(lists.every((list) => list.length > 0 && list.length <= 50)).toBe(true);
  for (const id of ids) await store.remove({ pk: `ENV#${id}`, sk: 'ENV' });
});
