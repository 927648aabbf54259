import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { client, newWorkspace, resources, startRun, untilConfirmable, untilFinal } from './support/world.ts';

const files = { 'main.tf': resources(['a']) };

it('runs of a workspace start in order, one at a time; plan-only runs bypass the queue', async () => {
  const workspace = await newWorkspace();
  const version = await client.upload(workspace.id, await packFiles(files));
  const first = await client.createRun(workspace.id, {}, version.id);
  const second = await client.createRun(workspace.id, {}, version.id);
  const third = await client.createRun(workspace.id, {}, version.id);
  await untilConfirmable(first);
  expect((await client.run(second.id)).attributes.status).toBe('pending');
  const current = (await client.get(`/workspaces/${workspace.id}`)).relationships?.['current-run']?.data;
  expect(current).toMatchObject({ id: first.id });

  const speculative = await client.createRun(workspace.id, { 'plan-only': true }, version.id);
  expect((await untilFinal(speculative)).attributes.status).toBe('planned_and_finished');
  expect((await client.run(second.id)).attributes.status).toBe('pending');

  await client.act(third.id, 'cancel');
  expect((await untilFinal(third)).attributes.status).toBe('canceled');
  await client.act(first.id, 'discard');
  const next = await untilConfirmable(second);
  expect(next.attributes.actions['is-confirmable']).toBe(true);
  await client.act(second.id, 'apply');
  expect((await untilFinal(second)).attributes.status).toBe('applied');
});

it('a locked workspace starts no run; unlocking starts the first', async () => {
  const workspace = await newWorkspace();
  const locked = await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'maintenance' });
  expect(locked.data.attributes).toMatchObject({ locked: true });
  await expect(client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {})).rejects.toMatchObject({
    status: 409,
  });
  const run = await startRun(workspace, files);
  const speculative = await client.createRun(workspace.id, { 'plan-only': true });
  await untilFinal(speculative);
  expect((await client.run(run.id)).attributes.status).toBe('pending');
  await client.call('POST', `/workspaces/${workspace.id}/actions/unlock`);
  await untilConfirmable(run);
  // The run holds the workspace now, so users cannot.
  await expect(client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {})).rejects.toMatchObject({
    status: 409,
  });
  await client.act(run.id, 'discard');
  await untilFinal(run);
  await expect(client.call('POST', `/workspaces/${workspace.id}/actions/unlock`)).rejects.toMatchObject({
    status: 409,
  });
});
