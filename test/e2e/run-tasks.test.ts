import { describe, expect, it } from 'vitest';
import type { Local } from '#infra/local/host/folder.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import type { RunPayload } from '#run/notifications/run.ts';
import type { TaskPayload } from '#run/task-payload.ts';
import { signatureOf } from '#test/support/task-server.ts';
import { attach, callBack, newTask, passes, stagesOf, startServer } from './support/run-tasks.ts';
import {
  client,
  inState,
  newName,
  newWorkspace,
  organization,
  platform,
  reasonOf,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
} from './support/world.ts';

const files = { 'main.tf': resources(['a']) };
const everywhere = ['pre_plan', 'post_plan', 'pre_apply', 'post_apply'];

describe.concurrent('run tasks', () => {
  it('receive a signed request at every stage, and their result decides the run', async () => {
    const { server, task } = await newTask(passes, { 'hmac-key': 'secret' });
    const workspace = await newWorkspace({ 'auto-apply': true });
    await attach(workspace, task, everywhere);
    const run = await untilFinal(await startRun(workspace, files));
    expect([run.attributes.status, reasonOf(run), await stagesOf(run)]).toEqual([
      'applied',
      '',
      everywhere.map((stage) => `${stage}: passed (passed)`),
    ]);
    const [verification, ...requests] = server.requests;
    expect(verification?.payload.access_token).toBe('test-token');
    expect(requests.map(({ payload }) => payload.stage)).toEqual(everywhere);
    for (const { bytes, headers } of requests)
      expect(headers['x-tfc-task-signature']).toBe(signatureOf(bytes, 'secret'));
    for (const stage of ['pre-plan', 'post-plan', 'pre-apply', 'post-apply']) {
      expect(run.attributes['status-timestamps']).toMatchObject({
        [`${stage}-running-at`]: expect.any(String),
        [`${stage}-completed-at`]: expect.any(String),
      });
    }
  });

  it('are called in parallel: fifty of them, at most forty at once', async () => {
    const workspace = await newWorkspace();
    const payloads: TaskPayload[] = [];
    const most = 40;
    // The server answers only once as many requests are open as Step Functions sends in parallel.
    const { server, task } = await newTask(async (payload) => {
      payloads.push(payload);
      if (payloads.length < most) return;
      const all = payloads.length === most ? payloads : [payload];
      await Promise.all(all.map((one) => callBack(one, { status: 'passed' })));
    });
    const more = await Promise.all(
      Array.from({ length: 49 }, () =>
        client.create(`/organizations/${organization}/tasks`, 'tasks', { name: newName('task'), url: server.url }),
      ),
    );
    for (const one of [task, ...more]) await attach(workspace, one, ['pre_plan']);
    const run = await untilFinal(await startRun(workspace, files, { 'plan-only': true }));
    expect([run.attributes.status, payloads.length]).toEqual(['planned_and_finished', 50]);
  });

  it('after the apply end with a cancel: the run is canceled, and the changes of the apply stay', async ({
    expect,
  }) => {
    const { task } = await newTask(async () => {});
    const workspace = await newWorkspace({ 'auto-apply': true });
    await attach(workspace, task, ['post_apply']);
    const run = await startRun(workspace, files);
    await untilStatus(run, 'post_apply_running');
    expect(await client.act(run.id, 'cancel')).toContain('its changes stay');
    const ended = await untilFinal(run);
    expect([ended.attributes.status, reasonOf(ended)]).toEqual([
      'canceled',
      'The apply had finished when the run was canceled. Its changes stay.',
    ]);
    expect(await inState(workspace)).toHaveLength(1);
  });
});

describe.concurrent('notifications', () => {
  it('are signed, are sent throughout a run, and cost runs of other workspaces nothing', async ({ expect }) => {
    const server = await startServer();
    const workspace = await newWorkspace();
    await client.create(`/workspaces/${workspace.id}/notification-configurations`, 'notification-configurations', {
      name: newName('hook'),
      'destination-type': 'generic',
      url: server.url,
      enabled: true,
      token: 'secret',
      triggers: ['run:created', 'run:planning', 'run:needs_attention', 'run:applying', 'run:completed', 'run:errored'],
    });
    const run = await untilConfirmable(await startRun(workspace, files));
    await client.act(run.id, 'apply');
    await untilFinal(run);
    await server.request(6);
    const told = server.requests.map(({ payload }) => payload as unknown as RunPayload);
    // They are sent in parallel.
    expect(told.flatMap(({ notifications }) => notifications.map(({ trigger }) => trigger)).sort()).toEqual([
      'run:applying',
      'run:completed',
      'run:created',
      'run:needs_attention',
      'run:planning',
      'verification',
    ]);
    expect(told.every(({ run_id }) => run_id === run.id || run_id === null)).toBe(true);
    for (const { bytes, headers } of server.requests)
      expect(headers['x-tfe-notification-signature']).toBe(signatureOf(bytes, 'secret'));
    const used = (id: string) => operatorFetch(platform as Local, `/_usage?run=${id}`).then((answer) => answer.text());
    expect(await used(run.id)).toContain('NotifyFunction');
    const quiet = await untilFinal(await startRun(await newWorkspace({ 'auto-apply': true }), files));
    expect(await used(quiet.id)).not.toContain('NotifyFunction');
  });
});
