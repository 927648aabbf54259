import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Environments, startEnvironments } from './support.ts';

/** The state before each operation, whether Terraform runs, and the state afterwards: one test per operation. */

const world = await startEnvironments();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-05T08:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Names of the resources in the build's state; undefined without a state. */
const stateOf = async (buildId: string): Promise<string[] | undefined> => {
  const { status, body } = await world.call('GET', `/workspacebuilds/${buildId}/state`);
  expect(status).toBe(200);
  if (!body) return undefined;
  const text = Buffer.from(body, 'base64').toString('utf8');
  if (text === '') return undefined;
  return (JSON.parse(text) as { resources: { name: string }[] }).resources.map(({ name }) => name);
};

/** The start of the latest build: its state, and whether Terraform runs. */
const begun = async (id: string) => {
  const build = await world.latest(id);
  const run = build.runIds.length ? await world.runOf(build) : undefined;
  return {
    transition: build.transition,
    reason: build.reason,
    terraform: run === undefined ? 'none' : run.isDestroy ? 'destroy' : 'apply',
    source: await stateOf(build.id),
  };
};

/** A running environment, with a home and a computer in its state. */
const started = async (template: Awaited<ReturnType<Environments['addTemplate']>>, more: object = {}) => {
  const { id } = (await world.create(template, more)).body;
  await world.writeState(id, ['home', 'compute']);
  await world.end(id);
  return id as string;
};

const full = ['home', 'compute'];

it('POST /users/{user}/workspaces: start, applies, from no state, to a new version', async () => {
  const { id } = (await world.create(await world.addTemplate())).body;
  expect(await begun(id)).toEqual({
    transition: 'start',
    reason: 'initiator',
    terraform: 'apply',
    source: undefined,
  });
  await world.writeState(id, full);
  expect(await stateOf((await world.end(id)).id)).toEqual(full);
});

it.each(['start', 'stop'])(
  'POST …/builds %s: applies, from the last build’s state, to a new version',
  async (transition) => {
    const id = await started(await world.addTemplate());
    await world.build(id, transition);
    expect(await begun(id)).toMatchObject({ transition, terraform: 'apply', source: full });
    await world.writeState(id, ['home']);
    expect(await stateOf((await world.end(id)).id)).toEqual(['home']);
  },
);

it('POST …/builds start: is refused, with the reason, after an apply that ended without its last state', async () => {
  const id = await started(await world.addTemplate());
  const { workspaceId } = await world.environmentOf(id);
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const { id: runId } = await world.runOf(await world.latest(id));
  const unsaved = { runId, serial: 9, lineage: '', lost: true };
  await update(keys.workspace(workspaceId), { set: { lock: { kind: 'run', runId, at: '', unsaved } } });
  const answer = await world.build(id, 'stop');
  expect(answer.status).toBe(409);
  expect(answer.body.message).toContain(`is locked. The apply of ${runId} ended without its last state`);
  expect(await begun(id)).toMatchObject({ transition: 'start' });
  const state = world.stateOf(['other']).toString('base64');
  const pushed = await world.build(id, 'start', { body: { transition: 'start', state } });
  expect(pushed.status, 'with that state').toBe(201);
});

it('POST …/builds delete: destroys from the last build’s state, then deletes the workspace', async () => {
  const id = await started(await world.addTemplate());
  await world.build(id, 'delete');
  expect(await begun(id)).toMatchObject({ transition: 'delete', terraform: 'destroy', source: full });
  await world.writeState(id, []);
  expect(await stateOf((await world.end(id)).id)).toEqual([]);
  expect((await world.call('GET', `/workspaces/${id}`)).status).toBe(410);
});

it('POST …/builds delete with orphan: no Terraform, and states stay readable', async () => {
  const id = await started(await world.addTemplate());
  const first = await world.latest(id);
  const { lockWorkspace } = await import('#lifecycle/queue/locks.ts');
  await lockWorkspace((await world.environmentOf(id)).workspaceId, world.api.userId, 'even of a locked workspace');
  const answer = await world.build(id, 'delete', { body: { transition: 'delete', orphan: true } });
  expect(answer.body.job.status).toBe('succeeded');
  expect(await begun(id)).toMatchObject({ terraform: 'none' });
  expect(await stateOf(first.id)).toEqual(full);
  expect((await world.call('GET', `/workspaces/${id}`)).status).toBe(410);
});

it('POST …/builds delete without a state: no Terraform', async () => {
  const { id } = (await world.create(await world.addTemplate())).body;
  await world.end(id, 'errored');
  await world.build(id, 'delete');
  expect(await begun(id)).toMatchObject({ terraform: 'none', source: undefined });
  expect((await world.call('GET', `/workspaces/${id}`)).status).toBe(410);
});

it('POST …/builds delete with state: destroys from that state', async () => {
  const { id } = (await world.create(await world.addTemplate())).body;
  await world.end(id, 'errored');
  const state = world.stateOf(['other']).toString('base64');
  await world.build(id, 'delete', { body: { transition: 'delete', state } });
  expect(await begun(id)).toMatchObject({ terraform: 'destroy' });
});

it.each([
  ['in time', 'canceled', 200],
  ['too late', 'applied', 410],
  ['too late, without changes', 'planned_and_finished', 410],
] as const)('PATCH …/cancel of a deletion, %s', async (_, status, seen) => {
  const id = await started(await world.addTemplate());
  await world.build(id, 'delete');
  const { id: buildId } = await world.latest(id);
  expect((await world.call('PATCH', `/workspacebuilds/${buildId}/cancel`)).status).toBe(200);
  expect(await world.end(id, status)).toHaveProperty('canceledAt');
  expect((await world.call('GET', `/workspaces/${id}`)).status).toBe(seen);
});

it('PATCH …/cancel, pending: the state is unchanged', async () => {
  const id = await started(await world.addTemplate());
  await world.build(id, 'stop');
  const { id: buildId } = await world.latest(id);
  expect((await world.call('PATCH', `/workspacebuilds/${buildId}/cancel`)).status).toBe(200);
  const ended = await world.end(id, 'canceled');
  expect(ended).toMatchObject({ canceledAt: expect.any(String) });
  expect([ended.error, ended.note]).toEqual([undefined, undefined]);
  expect(await stateOf(buildId)).toEqual(full);
});

it.each([
  ['canceled', 'early, while planning: nothing has changed, and the former state is correct', undefined, full],
  ['canceled', 'mid-way, while applying: the state contains the changes until then', ['home'], ['home']],
  ['canceled', 'late, when the apply was complete: the state contains all changes', [], []],
  ['errored', 'before or during the plan: the state is kept', undefined, full],
  [
    'errored',
    'during the apply, or by the end of the runner: the state recorded until then is kept',
    ['home'],
    ['home'],
  ],
] as const)('a running build is %s %s', async (status, _, written, expected) => {
  const id = await started(await world.addTemplate());
  await world.build(id, 'stop');
  if (written) await world.writeState(id, [...written]);
  const ended = await world.end(id, status);
  expect([await stateOf(ended.id), ended.error !== undefined]).toEqual([expected, status === 'errored']);
  await world.build(id, 'start');
  expect(await begun(id)).toMatchObject({ source: expected });
});

it('PATCH …/cancel while applying: the log tells what was kept', async () => {
  const id = await started(await world.addTemplate());
  await world.build(id, 'stop');
  const { updateRun } = await import('#resources/runs/records.ts');
  const apply = { status: 'canceled', statusTimestamps: {} };
  const plan = { status: 'finished', statusTimestamps: {}, report: { resourcesAfter: 2 } };
  await updateRun((await world.latest(id)).runIds[0] ?? '', { set: { apply, plan } });
  await world.writeState(id, ['home']);
  expect((await world.end(id, 'canceled')).note?.text).toBe(
    'Interrupted. State kept: 1 of 2 resources recorded (serial 2). The next build continues from it.',
  );
});

it('POST …/builds with state: applies from that state', async () => {
  const id = await started(await world.addTemplate());
  const state = world.stateOf(['other']).toString('base64');
  await world.build(id, 'start', { body: { transition: 'start', state } });
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const workspace = await getWorkspace((await world.environmentOf(id)).workspaceId);
  expect(workspace?.state?.resources).toBe(1);
  expect(await stateOf((await world.end(id)).id)).toEqual(['other']);
});

it('PUT /workspacebuilds/{build}/state: replaced without Terraform, on the latest build alone', async () => {
  const id = await started(await world.addTemplate());
  const first = await world.latest(id);
  const body = { state: world.stateOf(['other']).toString('base64') };
  expect((await world.call('PUT', `/workspacebuilds/${first.id}/state`, { body })).status).toBe(204);
  expect(await stateOf(first.id)).toEqual(['other']);
  await world.build(id, 'stop');
  const during = await world.call('PUT', `/workspacebuilds/${(await world.latest(id)).id}/state`, { body });
  expect(during).toMatchObject({ status: 409, body: { message: 'A workspace build is already active.' } });
  await world.end(id);
  expect((await world.call('PUT', `/workspacebuilds/${first.id}/state`, { body })).status).toBe(409);
});
