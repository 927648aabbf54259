import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bold, dim } from './print.ts';

/**
 * `npm run demo`: a first apply on an empty platform, and a failed plan. An ordinary client of the public API, with its
 * own platform and data folder. `-- --full` adds every stage that a run can have.
 */

/** How the user started the command line, if it started this. */
const by = process.env.STEPFORM_PROGRAM;

const main = async (full: boolean): Promise<void> => {
  console.log(`Starting ${bold('stepform')} …`);
  // Loading takes seconds on a slow machine.
  const [{ Client }, { provideOpa }, { startPlatform }, { showBasics }, { showEverything }] = await Promise.all([
    import('#clients/client/client.ts'),
    import('#infra/local/commands/opa.ts'),
    import('#infra/local/commands/platform.ts'),
    import('./basics.ts'),
    import('./full.ts'),
  ]);
  // The engine of policies; otherwise the platform would look for it at the first one.
  if (full) await provideOpa(console.log);
  const dataDir = await mkdtemp(join(tmpdir(), 'stepform-demo-'));
  const platform = await startPlatform({
    dataDir,
    port: 0,
    httpsPort: 0,
    // As on AWS, because the demo shows what its runs would cost there.
    functionSettings: { LOG_WAIT_MS: '0' },
    tell: (text) => console.log(dim(text)),
  });
  try {
    const { url, token } = platform.local;
    console.log(
      `${bold('stepform')} runs on this machine: ${url} ${dim(`(ready in ${(platform.readyMs / 1000).toFixed(1)} s)`)}`,
    );
    const client = new Client(url, token);

    await showBasics(client, platform.local);
    if (full) await showEverything(client, platform.local);
    else
      console.log(
        `With ${bold(by ? `${by} demo --full` : 'npm run demo -- --full')} you also see run tasks, an estimate, and a policy overridden.`,
      );
    console.log(
      `\nNow ${bold(by ? `${by} start` : 'npm start')}: the same platform in the foreground, for your own terraform.`,
    );
  } finally {
    await platform.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
};

const options = process.argv.slice(2);
const unknown = options.filter((option) => option !== '--full');

try {
  if (unknown.length) throw new Error(`unknown option ${unknown[0]}; the only one is --full`);
  await main(options.includes('--full'));
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
