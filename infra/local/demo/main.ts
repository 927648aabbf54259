import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '#clients/cli/exit.ts';
import { ask, isAttended } from '#clients/cli/terminal.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { bold, dim } from './print.ts';

/**
 * `npm run demo`: a first apply on an empty platform, and a failed plan. An ordinary client of the public API, with its
 * own platform and data folder. On a terminal the viewer decides the runs, and the page stays open until Enter.
 * `-- --full` adds every stage that a run can have; `-- --no-wait` asks nothing.
 */

/** How the user started the command line, if it started this. */
const by = process.env.STEPFORM_PROGRAM;

const showSignIn = ({ url, token }: Local): void => console.log(`\n  page   ${bold(`${url}/`)}\n  token  ${token}`);

const main = async (full: boolean, attended: boolean): Promise<void> => {
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
    const { local, readyMs } = platform;
    console.log(`${bold('stepform')} runs on this machine ${dim(`(ready in ${(readyMs / 1000).toFixed(1)} s)`)}`);
    if (attended) showSignIn(local);
    const client = new Client(local.url, local.token);

    await showBasics(client, local, attended);
    if (full) await showEverything(client, local, attended);
    else
      console.log(
        `\n${bold(by ? `${by} demo --full` : 'npm run demo -- --full')} also shows run tasks, an estimate, and a policy that is overridden.`,
      );
    console.log(`${bold(by ? `${by} start` : 'npm start')} runs the same platform for your own Terraform.`);
    if (attended) {
      showSignIn(local);
      await ask('\nThe page stays open until you press Enter\n> ');
    } else
      console.log(dim('The demo ends here, and the links above with it. On a terminal it stays open until Enter.'));
  } finally {
    await platform.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
};

const options = process.argv.slice(2);
const unknown = options.find((option) => option !== '--full' && option !== '--no-wait');

try {
  if (unknown) throw new Error(`unknown option ${unknown}; there are --full and --no-wait`);
  await main(options.includes('--full'), isAttended() && !options.includes('--no-wait'));
} catch (error) {
  // Ctrl-C at a question.
  if (!(error instanceof CommandError)) console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
}
