import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Environments, startEnvironments } from './support.ts';

/** The state before each operation, whether Terraform runs, and the state afterwards: one test per operation. */

const world = await startEnvironments();
const { keys } = await import('#platform/store/keys.ts');
const { update } = await import('#platform/store/table.ts');
const { getWorkspace } = await import('#resources/workspaces/records.ts');

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
  return body ? body.resources.map(({ name }: { name: string }) => name) : undefined;
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
    const first = await world.latest(id);
    await world.build(id, transition);
    expect(await begun(id)).toMatchObject({ transition, terraform: 'apply', source: full });
    await world.writeState(id, ['home']);
    expect(await begun(id), 'until its end').toMatchObject({ source: full });
    expect([await stateOf((await world.end(id)).id), await stateOf(first.id)]).toEqual([['home'], full]);
  },
);

it('POST …/builds start: is refused, with the reason, after an apply that ended without its last state', async () => {
  const id = await started(await world.addTemplate());
  const { workspaceId } = await world.environmentOf(id);
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
  expect((await world.build(id, 'start')).body.message).toBe('Cannot start a deleted workspace!');
});

it('POST …/builds delete with orphan: no Terraform, and states stay readable', async () => {
  const id = await started(await world.addTemplate());
  const first = await world.latest(id);
  const { lockWorkspace } = await import('#lifecycle/queue/locks.ts');
  await lockWorkspace((await world.environmentOf(id)).workspaceId, world.api.userId, 'even of a locked workspace');
  const answer = await world.build(id, 'delete', { body: { transition: 'delete', orphan: true } });
  expect(answer.body.job.status).toBe('succeeded');
  expect(await begun(id)).toMatchObject({ terraform: 'none' });
  const { note } = await world.latest(id);
  expect(note?.text).toBe('Resources are kept: 2 resources of the last state are no longer managed.');
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
  expect(ended.note, 'no apply was interrupted').toBeUndefined();
  await world.build(id, 'start');
  expect(await begun(id)).toMatchObject({ source: expected });
});

it.each([
  ['canceled', 'cancel', 'start', 'Interrupted. State kept: 0 resources recorded.'],
  ['canceled', 'cancel', 'stop', 'Interrupted. State kept: 1 of 2 resources recorded (serial 2).'],
  ['errored', 'cancel', 'start', 'Interrupted. State kept: 0 resources recorded.'],
  ['errored', '', 'stop', 'The run ended as errored.'],
] as const)(
  'an apply ends as %s after %j of a %s: the log tells what was kept',
  async (status, path, transition, text) => {
    const { updateRun } = await import('#resources/runs/records.ts');
    const template = await world.addTemplate();
    const id = transition === 'stop' ? await started(template) : (await world.create(template)).body.id;
    if (transition === 'stop') await world.build(id, transition);
    const build = await world.latest(id);
    const apply = { status, statusTimestamps: {} };
    const report = transition === 'stop' ? { report: { resourcesAfter: 2 } } : {};
    await updateRun(build.runIds[0] ?? '', { set: { apply, plan: { ...apply, status: 'finished', ...report } } });
    if (path) await world.call('PATCH', `/workspacebuilds/${build.id}/${path}`);
    if (transition === 'stop') await world.writeState(id, ['home']);
    await world.end(id, status);
    const { body } = await world.call('GET', `/workspacebuilds/${build.id}/logs`);
    const [, { output }] = body.filter(({ stage }: { stage: string }) => stage === 'Cleaning Up');
    expect(output).toBe(path ? `${text} The next build continues from it.` : text);
  },
);

it('GET …/state: is refused if the state does not fit into a response', async () => {
  const id = await started(await world.addTemplate());
  await world.writeState(id, ['x'.repeat(5_000_000)]);
  const answer = await world.call('GET', `/workspacebuilds/${(await world.latest(id)).id}/state`);
  expect(answer).toMatchObject({ status: 400, body: { message: 'The response exceeds the limit of 6 MB.' } });
});

it('POST …/builds with state: applies from that state', async () => {
  const id = await started(await world.addTemplate());
  const state = world.stateOf(['other']).toString('base64');
  await world.build(id, 'start', { body: { transition: 'start', state } });
  const workspace = await getWorkspace((await world.environmentOf(id)).workspaceId);
  expect(workspace?.state?.resources).toBe(1);
  expect(await stateOf((await world.end(id)).id)).toEqual(['other']);
});

it('PUT /workspacebuilds/{build}/state: replaced without Terraform, on the latest build alone', async () => {
  const id = await started(await world.addTemplate());
  const first = await world.latest(id);
  const body = { state: world.stateOf(['other']).toString('base64') };
  const path = `/workspacebuilds/${first.id}/state`;
  const user = await world.members.withLevel('acme', 'write');
  for (const method of ['GET', 'PUT'])
    expect((await world.call(method, path, { ...user, body })).status, 'manages no templates').toBe(404);
  expect(await stateOf(first.id)).toEqual(full);
  expect((await world.call('PUT', path, { body })).status).toBe(204);
  expect(await stateOf(first.id)).toEqual(['other']);
  await world.build(id, 'stop');
  const during = await world.call('PUT', `/workspacebuilds/${(await world.latest(id)).id}/state`, { body });
  expect(during).toMatchObject({ status: 409, body: { message: 'A workspace build is already active.' } });
  await world.end(id);
  expect((await world.call('PUT', path, { body })).status).toBe(409);
});

it('POST …/builds with state: fails if the workspace is unlocked meanwhile', async () => {
  const { aws } = world.api;
  const id = await started(await world.addTemplate());
  const { workspaceId } = await world.environmentOf(id);
  const unlock = async (): Promise<void> => {
    aws.gate = undefined;
    const lock = (await getWorkspace(workspaceId))?.lock;
    if (lock) await update(keys.workspace(workspaceId), { remove: ['lock'] });
    else aws.gate = unlock;
  };
  aws.gate = unlock;
  const state = world.stateOf(['other']).toString('base64');
  const answer = await world.build(id, 'start', { body: { transition: 'start', state } });
  expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining('locked') } });
  const { number, error } = await world.latest(id);
  expect([number, error]).toEqual([2, expect.stringMatching(/^The state could not be stored: /)]);
  expect((await world.call('GET', `/workspaces/${id}/builds`)).body).toHaveLength(2);
  expect((await world.build(id, 'stop')).status, 'the environment is free').toBe(201);
});
