import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { client, newWorkspace, type Resource, resources, untilConfirmable, untilStatus } from './support/world.ts';

const upload = async (version: Resource, body: Uint8Array<ArrayBuffer>) => {
  const { status } = await fetch(version.attributes['upload-url'], { method: 'PUT', body });
  expect(status).toBe(200);
};

const announce = async () => {
  const workspace = await newWorkspace();
  const version = await client.create(`/workspaces/${workspace.id}/configuration-versions`, 'configuration-versions', {
    'auto-queue-runs': false,
  });
  const run = await client.createRun(workspace.id, {}, version.id);
  await untilStatus(run, 'fetching');
  return { workspace, version, run };
};

it('a run waits for the upload of its configuration, and keeps its place in the queue', async () => {
  const { workspace, version, run } = await announce();
  const { id: second } = await client.createRun(workspace.id, {}, version.id);
  expect((await client.run(second)).attributes.status).toBe('pending');
  await upload(version, new Uint8Array(await packFiles({ 'main.tf': resources(['a']) })));
  const planned = await untilConfirmable(run);
  expect(planned.attributes.status).toBe('planned');
  const at = planned.attributes['status-timestamps'];
  expect(at['fetching-at'] < at['fetched-at']).toBe(true);
  expect(at['fetched-at'] <= at['plan-queued-at']).toBe(true);
});
