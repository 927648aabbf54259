import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { ApiError, Client, until } from '#test/e2e/support/waiting.ts';
import {
  client,
  giveAccess,
  newName,
  newWorkspace,
  organization,
  platform,
  type Resource,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';

/**
 * The attacker may plan in a workspace and not apply: all paths to an apply without a confirmation, including those
 * through other users' settings and runs.
 */

const files = { 'main.tf': resources(['a']) };
const team: Resource = await client.create(`/organizations/${organization}/teams`, 'teams', {
  name: newName('planners'),
});
const { attributes } = await client.create(`/teams/${team.id}/authentication-token`, 'authentication-tokens', {});
const attacker: Client = new Client(platform.url, attributes.token);

/** A workspace in which the attacker may plan. */
const target = async (attributes: Record<string, unknown> = {}): Promise<Resource> => {
  const workspace = await newWorkspace(attributes);
  await giveAccess(team, workspace, 'plan');
  return workspace;
};

const statusOf = async (request: Promise<unknown>): Promise<number> =>
  request.then(
    () => 200,
    (error: unknown) => (error instanceof ApiError ? error.status : 0),
  );

/** The run waits for a user with permission to apply; the attacker lacks it. */
const waitsForOthers = async (run: Resource): Promise<void> => {
  const waiting = await untilConfirmable(run);
  const { attributes } = await attacker.run(waiting.id);
  expect(attributes).toMatchObject({
    'auto-apply': false,
    actions: { 'is-confirmable': true },
    permissions: { 'can-apply': false, 'can-discard': false },
  });
  expect(await statusOf(attacker.act(run.id, 'apply'))).toBe(403);
  expect((await attacker.run(run.id)).attributes.actions['is-confirmable']).toBe(true);
};

describe.concurrent('a user with permission to plan but not to apply', () => {
  it('cannot apply by an empty apply, with auto-apply or as a refresh', async () => {
    const workspace = await target();
    const run = await untilFinal(await startRun(workspace, files, { 'auto-apply': true }));
    expect(run.attributes.status).toBe('applied');
    for (const options of [{}, { 'auto-apply': true }, { 'refresh-only': true }]) {
      const empty = await attacker.createRun(workspace.id, { 'allow-empty-apply': true, ...options });
      await waitsForOthers(empty);
      await client.act(empty.id, 'discard');
    }
  });

  it('cannot apply through auto-apply of the run or of the workspace', async () => {
    const workspace = await target({ 'auto-apply': true });
    const version = await attacker.upload(workspace.id, await packFiles({ 'main.tf': resources(['b']) }));
    const run = await attacker.createRun(workspace.id, { 'auto-apply': true }, version.id);
    await waitsForOthers(run);
  });

  it('cannot apply by uploading a configuration that queues a run', async () => {
    const workspace = await target({ 'auto-apply': true });
    const before = await client.list(`/workspaces/${workspace.id}/runs`);
    await attacker.upload(workspace.id, await packFiles({ 'main.tf': resources(['b']) }), { 'auto-queue-runs': true });
    const [run] = await until(
      () => client.list(`/workspaces/${workspace.id}/runs`),
      (runs) => runs.length > before.length,
      60_000,
    );
    await waitsForOthers(run as Resource);
  });

  it('needs a confirmation when another user starts a run with their configuration', async () => {
    const workspace = await target({ 'auto-apply': true });
    await attacker.upload(workspace.id, await packFiles({ 'main.tf': resources(['b']) }));
    await waitsForOthers(await client.createRun(workspace.id, { 'auto-apply': true }));
  });

  it('needs a confirmation when a run trigger uses their configuration', async () => {
    const workspace = await target({ 'auto-apply-run-trigger': true });
    const source = await newWorkspace({ 'auto-apply': true });
    const sourceable = { data: { type: 'workspaces', id: source.id } };
    await client.create(`/workspaces/${workspace.id}/run-triggers`, 'run-triggers', {}, { sourceable });
    await attacker.upload(workspace.id, await packFiles({ 'main.tf': resources(['b']) }));
    await untilFinal(await startRun(source, files));
    const [triggered] = await until(
      () => client.list(`/workspaces/${workspace.id}/runs`),
      (runs) => runs[0]?.attributes['trigger-reason'] === 'run_trigger',
      60_000,
    );
    await waitsForOthers(triggered as Resource);
  });

  it('cannot confirm a saved plan or start a destroy run', async () => {
    const workspace = await target({ 'auto-apply': true });
    const version = await attacker.upload(workspace.id, await packFiles({ 'main.tf': resources(['b']) }));
    const saved = await attacker.createRun(workspace.id, { 'save-plan': true }, version.id);
    await waitsForOthers(saved);
    expect(await statusOf(attacker.createRun(workspace.id, { 'is-destroy': true }))).toBe(403);
    const plan = await attacker.createRun(workspace.id, { 'is-destroy': true, 'plan-only': true });
    expect((await untilFinal(plan)).attributes.status).toBe('planned_and_finished');
  });

  it('cannot move a run to the front of the queue', async () => {
    const workspace = await target();
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': resources(['b']) }));
    const front = await untilConfirmable(await client.createRun(workspace.id, {}, version.id));
    const own = await attacker.createRun(workspace.id);
    expect(await statusOf(attacker.act(own.id, 'force-execute'))).toBe(403);
    expect(await statusOf(attacker.act(front.id, 'discard'))).toBe(403);
    expect((await client.run(front.id)).attributes.actions['is-confirmable']).toBe(true);
  });
});

it('a run waits for a confirmation if its author has lost the permission to apply', async () => {
  const workspace = await newWorkspace();
  const access = await giveAccess(team, workspace, 'write');
  const front = await untilConfirmable(await startRun(workspace, files));
  const version = await attacker.upload(workspace.id, await packFiles({ 'main.tf': resources(['a', 'b']) }));
  const run = await attacker.createRun(workspace.id, { 'auto-apply': true }, version.id);
  expect(run.attributes['auto-apply']).toBe(true);
  await client.call('PATCH', `/team-workspaces/${access.id}`, { data: { attributes: { access: 'plan' } } });
  await client.act(front.id, 'discard');
  await waitsForOthers(run);
  const { data } = await client.call<Resource[]>('GET', `/runs/${run.id}/run-events`);
  expect(data.map(({ attributes }) => attributes.action)).toContain('auto_apply_withdrawn');
});
