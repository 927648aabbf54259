import { beforeEach, describe, expect, it, vi } from 'vitest';
import { isAccepted } from '#run/actions.ts';
import type { RunEvent } from '#run/notifications/run.ts';
import { ref, startApi, uniqueName } from '#test/support/api.ts';
import { LifecycleWorld } from '#test/support/lifecycle-world.ts';
import { newRunOptions } from '#test/support/run.ts';
import { runHelpers } from '#test/support/runs.ts';
import { signatureOf, startTaskServer, status } from '#test/support/task-server.ts';

/** Notifications about runs: the recipients, once, and again until they are reached. */

const api = await startApi();
const server = await startTaskServer();
const notify = (await import('#resources/notifications/handler.ts')).handler;
process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
beforeEach(() => {
  server.answer = status(200);
  server.requests.length = 0;
  api.aws.invoked.length = 0;
});

const configure = async (workspaceId: string, change: object = {}) => {
  const values = { name: 'n', 'destination-type': 'generic', url: server.url, triggers: ['run:created'], ...change };
  const answer = await api.post(`workspaces/${workspaceId}/notification-configurations`, { ...values, enabled: true });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  server.requests.length = 0;
  return answer.body.data.id as string;
};
const pathOf = (id: string) => `notification-configurations/${id}`;
const responsesOf = async (id: string): Promise<{ code: string; body: string }[]> =>
  (await api.get(pathOf(id))).body.data.attributes['delivery-responses'];

const created: Omit<RunEvent, 'id' | 'runId'> = { kind: 'run', trigger: 'run:created', status: 'pending' };
const runIn = async (workspaceId: string) => (await (await runHelpers(api)).create(workspaceId)).id as string;
const ready = async () => (await (await runHelpers(api)).ready()).id;

describe('a destination', () => {
  it('receives signed events in its own format', async () => {
    const workspace = await ready();
    const generic = await configure(workspace, { token: 'secret' });
    await configure(workspace, { 'destination-type': 'slack', url: `${server.url}slack` });
    await configure(workspace, { 'destination-type': 'microsoft-teams', url: `${server.url}teams` });
    const runId = await runIn(workspace);
    await notify({ id: 'e1', runId, ...created });
    const by = (path: string) => server.requests.find((request) => request.path === path);
    expect(server.requests).toHaveLength(3);
    expect(by('/')?.payload).toMatchObject({
      notification_configuration_id: generic,
      run_id: runId,
      run_created_by: 'owner',
      organization_name: 'acme',
      notifications: [
        { message: 'Run created', trigger: 'run:created', run_status: 'pending', run_updated_by: 'owner' },
      ],
    });
    expect(by('/')?.headers['x-tfe-notification-signature']).toBe(signatureOf(by('/')?.bytes as Buffer, 'secret'));
    expect(by('/slack')?.payload).toHaveProperty('blocks');
    expect(by('/teams')?.payload).toHaveProperty('@type', 'MessageCard');
    expect((await responsesOf(generic))[0]).toMatchObject({ code: '200', successful: 'true' });
  });

  it('is notified once, despite retries and repeated events', async () => {
    const workspace = await ready();
    await configure(workspace);
    const runId = await runIn(workspace);
    for (const id of ['e1', 'e1', 'e2']) await notify({ id, runId, ...created });
    expect(server.requests).toHaveLength(1);
    await Promise.all(
      ['e3', 'e4'].map((id) => notify({ id, runId, kind: 'run', trigger: 'run:created', status: 'planning' })),
    );
    expect(server.requests).toHaveLength(2);
  });

  it('without the trigger, disabled or deleted, receives nothing', async () => {
    const workspace = await ready();
    const [other, off, gone] = [
      await configure(workspace, { triggers: ['run:errored'] }),
      await configure(workspace),
      await configure(workspace),
    ];
    await api.patch(pathOf(off), { enabled: false });
    await api.call('DELETE', pathOf(gone));
    await notify({ id: 'e1', runId: await runIn(workspace), ...created });
    expect(server.requests).toEqual([]);
    expect(await responsesOf(other)).toHaveLength(1);
  });

  it('that fails is retried with the same event, without notifying others twice', async () => {
    const workspace = await ready();
    const [failing, well] = [await configure(workspace, { url: `${server.url}failing` }), await configure(workspace)];
    server.answer = (request, response) => response.writeHead(request.path === '/failing' ? 503 : 200).end('hm');
    const event = { id: 'e1', runId: await runIn(workspace), ...created };
    await expect(notify(event)).rejects.toThrow(`was not delivered to ${failing}`);
    // A retried state sends another event, which does not continue the delivery.
    await notify({ ...event, id: 'e2' });
    await expect(notify(event)).rejects.toThrow('was not delivered');
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/', '/failing', '/failing']);
    expect((await responsesOf(failing)).map(({ code }) => code)).toEqual(['503', '503', '200']);
    server.answer = status(200);
    await notify(event);
    await notify(event);
    expect(server.requests).toHaveLength(4);
    expect(await responsesOf(well)).toHaveLength(2);
  });

  it('that rejects it, or is not allowed, is not retried', async () => {
    const workspace = await ready();
    const id = await configure(workspace);
    server.answer = status(410);
    await notify({ id: 'e1', runId: await runIn(workspace), ...created });
    process.env.OUTBOUND_ALLOWED_CIDRS = '';
    await notify({ id: 'e2', runId: await runIn(workspace), ...created });
    process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
    const [inside, refused] = await responsesOf(id);
    expect(inside).toMatchObject({ code: '', successful: 'false', body: expect.stringContaining('reserved address') });
    expect(refused).toMatchObject({ code: '410', successful: 'false' });
  });

  it('records every response of many concurrent runs', async () => {
    const workspace = await ready();
    const id = await configure(workspace);
    const runs = await Promise.all([1, 2, 3, 4].map(() => runIn(workspace)));
    await Promise.all(runs.map((runId) => notify({ id: runId, runId, ...created })));
    expect(await responsesOf(id)).toHaveLength(5);
  });
});

describe('a run', () => {
  const noticesOf = () =>
    api.aws.invoked.map(({ event }) => event as RunEvent).map((one) => `${one.trigger} ${one.status}`);

  /** Runs the synthesized machine from creation to end. */
  const live = async (notifies: boolean, apply: boolean) => {
    const world = await LifecycleWorld.open(api.aws);
    const { store, workspaceId } = world;
    const set = { notifications: new Set(['nc-1']) };
    if (notifies) await store.update(store.keys.workspace(workspaceId), { set });
    const { id } = await store.createRun(workspaceId, newRunOptions());
    world.listen();
    for (let turn = 0; turn < 20; turn++) {
      const execution = world.executions.get(id);
      while (execution?.ready.length) await execution.step(0);
      const run = await world.run(id);
      if (!run || !execution?.running) break;
      if (isAccepted('apply', run)) await store.decide(run, apply ? 'apply' : 'discard', 'user-1');
      else await world.runner(run, 'finished', true);
      world.listen();
    }
    return world.run(id);
  };

  it('notifies at every step', async () => {
    expect((await live(true, true))?.status).toBe('applied');
    expect(noticesOf()).toEqual([
      'run:created pending',
      'run:planning planning',
      'run:needs_attention planned',
      'run:applying applying',
      'run:completed applied',
    ]);
    expect(api.aws.invoked[0]?.name).toBe('NotifyFunction');
    api.aws.invoked.length = 0;
    expect((await live(true, false))?.status).toBe('discarded');
    expect(noticesOf().at(-1)).toBe('run:errored discarded');
  });

  it('without notifications costs nothing extra', async () => {
    const before = api.aws.calls;
    await live(false, true);
    const quiet = api.aws.calls - before;
    expect(api.aws.invoked).toEqual([]);
    await live(true, true);
    expect(api.aws.calls - before - quiet).toBe(quiet + 5 + 1);
  });

  it('that was stopped by an operator sends notifications, and ends even if they fail', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { handler } = await import('#lifecycle/repair/execution-stopped.ts');
    const workspace = await ready();
    await configure(workspace);
    const stop = async () => {
      const runId = await runIn(workspace);
      await handler({ detail: { name: runId, status: 'ABORTED' } });
      return (await api.get(`runs/${runId}`)).body.data.attributes.status;
    };
    expect(await stop()).toBe('errored');
    expect(noticesOf()).toEqual(['run:errored errored']);
    process.env.NOTIFY_FUNCTION = 'not a name';
    expect(await stop()).toBe('errored');
    process.env.NOTIFY_FUNCTION = 'NotifyFunction';
    expect(noticesOf()).toHaveLength(1);
    expect(error.mock.calls.flat().join()).toContain('notification failed');
    error.mockRestore();
  });
});

describe('a project', () => {
  const project = async () => (await api.post('organizations/acme/projects', { name: uniqueName('p') })).body.data.id;
  const inProject = async (projectId: string) =>
    (
      await api.post(
        'organizations/acme/workspaces',
        { name: uniqueName('w') },
        { project: ref('projects', projectId) },
      )
    ).body.data.id as string;
  const configureProject = async (projectId: string, change: object = {}) => {
    const values = { name: 'n', 'destination-type': 'generic', url: server.url, triggers: ['run:created'], ...change };
    const path = `projects/${projectId}/notification-configurations`;
    const { status, body } = await api.post(path, { ...values, enabled: true });
    expect([status, body.errors]).toEqual([201, undefined]);
    server.requests.length = 0;
    return body.data.id as string;
  };
  const notifiesOf = async (workspaceId: string) => {
    const { getWorkspace } = await import('#resources/workspaces/records.ts');
    return (await getWorkspace(workspaceId))?.projectNotifies ?? false;
  };

  it('notifies of runs in all of its workspaces: older, newer and moved ones', async () => {
    const projectId = await project();
    const [older, outside] = [await inProject(projectId), (await api.workspace()).id];
    await api.configuration(older);
    const open = await runIn(older);
    const id = await configureProject(projectId);
    const newer = await inProject(projectId);
    await api.call('POST', `projects/${projectId}/relationships/workspaces`, {
      body: { data: [{ type: 'workspaces', id: outside }] },
    });
    expect(await Promise.all([older, newer, outside].map(notifiesOf))).toEqual([true, true, true]);
    const { getRun } = await import('#resources/runs/records.ts');
    expect((await getRun(open))?.notifies).toBe(true);
    await configure(older, { url: `${server.url}own` });
    await notify({ id: 'e1', runId: open, ...created });
    expect(server.requests.map(({ path }) => path).sort()).toEqual(['/', '/own']);
    expect(await responsesOf(id)).toHaveLength(2);
  });

  it('does not notify after its last configuration was deleted', async () => {
    const projectId = await project();
    const workspace = await inProject(projectId);
    const [first, second] = [await configureProject(projectId), await configureProject(projectId)];
    await api.configuration(workspace);
    const open = await runIn(workspace);
    const { getRun, updateRun } = await import('#resources/runs/records.ts');
    await updateRun(open, { remove: ['notifies'] });
    await api.call('DELETE', pathOf(first));
    expect(await notifiesOf(workspace)).toBe(true);
    await api.call('DELETE', pathOf(second));
    expect(await notifiesOf(workspace)).toBe(false);
    expect((await getRun(open))?.notifies).toBeUndefined();
    expect((await getRun(await runIn(workspace)))?.notifies).toBeUndefined();
  });

  it('no longer notifies of a workspace that moved out', async () => {
    const projectId = await project();
    const workspace = await inProject(projectId);
    await configureProject(projectId);
    const elsewhere = await project();
    await api.patch(`workspaces/${workspace}`, {}, { project: ref('projects', elsewhere) });
    expect(await notifiesOf(workspace)).toBe(false);
  });

  it('that is deleted takes its configurations with it', async () => {
    const projectId = await project();
    const id = await configureProject(projectId);
    expect((await api.get(pathOf(id))).body.data.relationships.subscribable.data).toEqual({
      type: 'projects',
      id: projectId,
    });
    await api.call('DELETE', `projects/${projectId}`);
    expect((await api.get(pathOf(id))).status).toBe(404);
  });
});

describe('a team', () => {
  const team = async () =>
    (await api.post('organizations/acme/teams', { name: uniqueName('t') })).body.data.id as string;
  const configureTeam = async (teamId: string, change: object = {}) => {
    const values = { name: 'n', 'destination-type': 'generic', url: server.url, enabled: true, ...change };
    return api.post(`teams/${teamId}/notification-configurations`, values);
  };
  const access = (teamId: string, workspaceId: string) =>
    api.post(
      'team-workspaces',
      { access: 'read' },
      { team: ref('teams', teamId), workspace: ref('workspaces', workspaceId) },
    );

  it('is notified once of change requests of its workspaces', async () => {
    const [given, other] = [await team(), await team()];
    const { id: workspaceId, attributes } = await api.workspace();
    await access(given, workspaceId);
    const configured = await configureTeam(given, { triggers: ['change_request:created', 'team:change_request'] });
    expect([configured.status, configured.body.data.attributes.triggers]).toEqual([
      201,
      ['team:change_request', 'change_request:created'],
    ]);
    await configureTeam(other, { triggers: ['change_request:created'] });
    server.requests.length = 0;
    const action = { action_type: 'change_requests', action_inputs: { subject: 'Upgrade', message: 'now' } };
    await api.post('organizations/acme/explorer/bulk-actions', { ...action, target_ids: [workspaceId] });
    const [{ event } = { event: undefined }] = api.aws.invoked.slice(-1);
    for (let i = 0; i < 2; i++) await notify(event as never);
    expect(server.requests.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({
        notification_configuration_id: configured.body.data.id,
        change_request_subject: 'Upgrade',
        change_request_message: 'now',
        change_request_created_by: 'owner',
        workspace_name: attributes.name,
      }),
    ]);
  });

  it('rejects triggers of runs, as a workspace rejects those of teams', async () => {
    const { status, body } = await configureTeam(await team(), { triggers: ['run:created'] });
    expect([status, body.errors[0].detail]).toEqual([
      422,
      'triggers: run:created is not one of team:change_request, change_request:created',
    ]);
    const { id } = await api.workspace();
    const values = { name: 'n', 'destination-type': 'generic', url: server.url, triggers: ['team:change_request'] };
    expect((await api.post(`workspaces/${id}/notification-configurations`, values)).status).toBe(422);
  });

  it('that is deleted takes its configurations with it', async () => {
    const id = await team();
    const configuration = (await configureTeam(id)).body.data.id;
    await api.call('DELETE', `teams/${id}`);
    expect((await api.get(pathOf(configuration))).status).toBe(404);
  });

  it('costs nothing in organizations whose teams have no configurations', async () => {
    const { id } = (await api.post('organizations', { name: uniqueName('quiet'), email: 'a@example.com' })).body.data;
    const name = { name: uniqueName('w') };
    const workspaceId = (await api.post(`organizations/${id}/workspaces`, name)).body.data.id;
    const action = { action_type: 'change_requests', action_inputs: { subject: 's' }, target_ids: [workspaceId] };
    await api.post(`organizations/${id}/explorer/bulk-actions`, action);
    expect(api.aws.invoked).toEqual([]);
  });
});

describe('health and automatic destruction', () => {
  const result = { succeeded: true, runId: 'run-aaaaaaaaaaaaaaaa', at: '2026-01-02T03:04:05.000Z' };

  it('notify by the triggers of a result, once per result', async () => {
    const workspace = await ready();
    const triggers = ['assessment:drifted', 'assessment:check_failure', 'assessment:failed'];
    await configure(workspace, { triggers });
    await configure(workspace, { url: `${server.url}slack`, 'destination-type': 'slack', triggers: [triggers[0]] });
    const drifted = { ...result, resourcesDrifted: 2, checksFailed: 1, checksErrored: 0 };
    const event = { kind: 'health', id: 'h1', workspaceId: workspace, result: drifted } as never;
    await notify(event);
    await notify(event);
    const generic = server.requests.filter(({ path }) => path === '/').map(({ payload }) => payload as object);
    expect(generic).toHaveLength(2);
    expect(generic[0]).toMatchObject({
      payload_version: '2',
      trigger_scope: 'assessment',
      trigger: 'assessment:drifted',
      message: 'Drift Detected',
      details: {
        new_assessment_result: { id: 'asmtres-aaaaaaaaaaaaaaaa', drifted: true, resources_drifted: 2 },
        prior_assessment_result: null,
        workspace_id: workspace,
        organization_name: 'acme',
      },
    });
    expect(generic[1]).toMatchObject({ trigger: 'assessment:check_failure', message: 'Check Failure' });
    expect(server.requests.filter(({ path }) => path === '/slack')).toHaveLength(1);
    server.requests.length = 0;
    await notify({
      kind: 'health',
      id: 'h2',
      workspaceId: workspace,
      result: { ...result, runId: 'run-b', succeeded: false },
    } as never);
    expect(server.requests.map(({ payload }) => (payload as unknown as { trigger: string }).trigger)).toEqual([
      'assessment:failed',
    ]);
  });

  it('notify of reminders and results', async () => {
    const workspace = await ready();
    await configure(workspace, {
      triggers: ['workspace:auto_destroy_reminder', 'workspace:auto_destroy_run_results'],
      token: 'secret',
    });
    const at = '2026-01-02T03:04:05.000Z';
    for (const kind of ['reminder', 'results'] as const) {
      await notify({
        kind: 'autoDestroy',
        id: kind,
        workspaceId: workspace,
        notice: { kind, at, obstacle: 'Execution mode is local' },
      });
    }
    expect(server.requests.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ trigger: 'workspace:auto_destroy_reminder', message: 'Auto Destroy Reminder' }),
      expect.objectContaining({
        trigger: 'workspace:auto_destroy_results',
        details: expect.objectContaining({ run_create_error_message: 'Execution mode is local', auto_destroy_at: at }),
      }),
    ]);
    const [first] = server.requests;
    expect(first?.headers['x-tfe-notification-signature']).toBe(signatureOf(first?.bytes as Buffer, 'secret'));
  });
});
