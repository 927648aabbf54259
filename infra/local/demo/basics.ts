import { fileURLToPath } from 'node:url';
import { packFolder } from '#clients/cli/archive.ts';
import type { Client } from '#clients/client/client.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { dim, section } from './print.ts';
import { showCost, showOutputs, showTimes } from './summary.ts';
import { watchRun } from './watch.ts';

const folder = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export const packExample = (): Promise<Uint8Array> => packFolder(folder('example'));

/** A first apply on an empty platform, and a failed plan. */
export const showBasics = async (client: Client, local: Local, attended: boolean): Promise<void> => {
  const { organization } = local;
  section('A configuration becomes infrastructure');
  const workspace = await client.createWorkspace(organization, 'demo');
  await client.setVariable(workspace.id, {
    key: 'database_password',
    value: 'correct horse battery staple',
    sensitive: true,
  });
  const version = await client.upload(workspace.id, await packExample());
  const created = await client.createRun(workspace.id, { message: 'First run' }, version.id);
  const run = await watchRun(client, created, attended);
  if (run.attributes.status === 'applied') {
    await showOutputs(client, workspace.id);
    await showTimes(client, run);
    await showCost(local, run.id);
  } else if (run.attributes.status !== 'discarded') throw new Error(`the run ended ${run.attributes.status}`);

  section('A plan that fails');
  const broken = await client.upload(workspace.id, await packFolder(folder('broken')));
  const move = await client.createRun(workspace.id, { message: 'Move to subnet d' }, broken.id);
  const failed = await watchRun(client, move, attended);
  if (failed.attributes.status !== 'errored') throw new Error(`the run ended ${failed.attributes.status}`);
  console.log(dim('The state is unchanged, and the next run can start.'));
};
