import { beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { endCoolOff, operate } from './support/operator.ts';
import { untilHeld } from './support/waiting.ts';
import {
  client,
  inState,
  newWorkspace,
  platform,
  reasonOf,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
} from './support/world.ts';

/** Force-execute and force-cancel, with the responses of a real platform. */

beforeAll(() => {
  if (platform.awsEndpointUrl) operate(platform);
});

const refused = (status: number, detail: RegExp) => ({
  status,
  errors: [expect.objectContaining({ detail: expect.stringMatching(detail) })],
});

describe.concurrent('a run', () => {
  it('that is pending is moved to the front by force-execute, which discards the run that waits for a person', async () => {
    const workspace = await newWorkspace();
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': resources(['a']) }));
    const create = () => client.createRun(workspace.id, {}, version.id);
    const front = await untilConfirmable(await create());
    const [second, third] = [await create(), await create()];
    await expect(client.act(front.id, 'force-execute')).rejects.toMatchObject(refused(403, /is planned/));

    await client.act(third.id, 'force-execute', 'urgent');
    expect((await untilFinal(front)).attributes.status).toBe('discarded');
    const next = await untilConfirmable(third);
    expect(next.attributes.actions['is-confirmable']).toBe(true);
    expect((await client.run(second.id)).attributes.status).toBe('pending');
    const comments = await client.list(`/runs/${third.id}/comments`);
    expect(comments.map(({ attributes }) => attributes.body)).toEqual(['urgent']);

    await client.act(third.id, 'apply');
    expect((await untilFinal(third)).attributes.status).toBe('applied');
    expect((await untilFinal(second)).attributes.status).toBe('planned_and_finished');
  });

  it('that does not stop when canceled can be force-canceled, and keeps completed changes', async ({ expect }) => {
    const workspace = await newWorkspace({ 'auto-apply': true });
    const deaf = `${resources(['quick'])}
resource "terraform_data" "deaf" {
  depends_on = [terraform_data.quick]
  provisioner "local-exec" {
    command = "(trap '' INT TERM HUP; sleep 120) & wait"
  }
}`;
    const run = await startRun(workspace, { 'main.tf': deaf });
    const behind = await startRun(workspace, { 'main.tf': resources(['quick']) });
    await untilStatus(run, 'applying');
    await expect(client.act(run.id, 'force-cancel')).rejects.toMatchObject(refused(409, /is applying/));
    await expect.poll(() => inState(workspace).catch(() => [])).toContain('terraform_data.quick');
    await client.act(run.id, 'cancel');
    const canceling = await client.run(run.id);
    expect(canceling.attributes).toMatchObject({ status: 'applying', actions: { 'is-force-cancelable': false } });
    await expect(client.act(run.id, 'force-cancel')).rejects.toMatchObject(refused(409, /cannot be force-canceled/));

    if (platform.awsEndpointUrl) await endCoolOff(run.id);
    await client.waitForRun(run.id, ({ attributes }) => attributes.actions['is-force-cancelable']);
    await client.act(run.id, 'force-cancel', 'enough');
    const canceled = await untilFinal(run);
    expect(canceled.attributes.status).toBe('canceled');
    expect(canceled.attributes['status-timestamps']['force-canceled-at']).toMatch(/Z$/);
    expect((await client.phase(canceled, 'apply')).attributes.status).toBe('canceled');
    expect(await inState(workspace)).toContain('terraform_data.quick');
    expect(reasonOf(canceled)).toMatch(
      /^The apply was interrupted\..*terraform_data\.deaf was started but not finished\..*(stays locked|has the newest state)/,
    );
    // It may have created a resource that no state contains: an admin decides, unless Terraform wrote a newer state just
    // before its end, which the runner kept on its disk.
    if (/stays locked/.test(reasonOf(canceled))) {
      expect((await client.run(behind.id)).attributes.status).toBe('pending');
      await untilHeld(client, workspace.id);
      await client.call('POST', `/workspaces/${workspace.id}/actions/force-unlock`);
    }
    expect((await untilFinal(behind)).attributes.status).toMatch(/^(applied|planned_and_finished)$/);
  });
});
