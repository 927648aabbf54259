import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packFolder } from '../../../functions/cli/archive.ts';
import { Client } from '../../../functions/cli/client.ts';
import { startPlatform } from '../platform.ts';
import { bold, dim, section } from './print.ts';
import { showCost, showOutputs, showTimes } from './summary.ts';
import { watchRun } from './watch.ts';

/**
 * `npm run demo`: the main job from an empty platform to Applied, and how a failure reads. A client of the public API
 * like any other, with a platform and a data folder of its own.
 */

const folder = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const main = async (): Promise<void> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'stepform-demo-'));
  const platform = await startPlatform({ dataDir, port: 0, httpsPort: 0 });
  try {
    const { url, token, organization, awsEndpointUrl } = platform.local;
    console.log(
      `${bold('stepform')} runs on this machine: ${url} ${dim(`(ready in ${(platform.readyMs / 1000).toFixed(1)} s)`)}`,
    );
    const client = new Client(url, token);

    section('A configuration becomes infrastructure');
    const workspace = await client.createWorkspace(organization, 'demo');
    await client.setVariable(workspace.id, {
      key: 'database_password',
      value: 'correct horse battery staple',
      sensitive: true,
    });
    const version = await client.upload(workspace.id, await packFolder(folder('example')));
    console.log(
      `workspace ${bold(`${organization}/demo`)} · configuration ${version.id} ${version.attributes.status} · variable database_password (sensitive)`,
    );
    const run = await watchRun(client, await client.createRun(workspace.id, { message: 'First run' }, version.id));
    if (run.attributes.status !== 'applied') throw new Error(`the run ended ${run.attributes.status}`);
    await showOutputs(client, workspace.id);
    await showTimes(client, run);
    await showCost(awsEndpointUrl, run.id);

    section('A plan that fails');
    const broken = await client.upload(workspace.id, await packFolder(folder('broken')));
    const failed = await watchRun(
      client,
      await client.createRun(workspace.id, { message: 'Move to subnet d' }, broken.id),
    );
    if (failed.attributes.status !== 'errored') throw new Error(`the run ended ${failed.attributes.status}`);
    console.log(`The state is unchanged, the workspace is free, and the next run may start.`);

    console.log(`\nNow ${bold('npm start')}: the same platform in the foreground, for your own terraform.`);
  } finally {
    await platform.close();
    await rm(dataDir, { recursive: true, force: true });
  }
};

try {
  await main();
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
