import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { client, newWorkspace, resources, untilConfirmable, untilFinal } from './support/world.ts';

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
