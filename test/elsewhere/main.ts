import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ECSClient, ListClustersCommand } from '@aws-sdk/client-ecs';
import { LambdaClient, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { provideOpa } from '#infra/local/commands/opa.ts';
import { Containers } from './containers.ts';
import { bootstrap, deploy } from './deploy.ts';
import { type Emulator, judgedFile, startEmulator } from './emulator.ts';
import { functionLogs } from './function-logs.ts';
import './localhost.mjs';
import { recoveryProblems } from './recovery.ts';
import { settingsProblems } from './settings.ts';
import { verifyProblems } from './verify.ts';

/**
 * `npm run e2e:elsewhere`: deploys the synthesized template with the real `cdk deploy` to an emulator of AWS, and runs
 * black-box tests of complete runs there. Skipped, with one line, if the emulator cannot be installed.
 */

const root = resolve(import.meta.dirname, '../..');
const localhost = new URL('localhost.mjs', import.meta.url).href;
const organization = 'elsewhere';

/** The default tests: a run that is confirmed, one with auto-apply, one that fails, one that is canceled. */
const usual = ['test/e2e/runs.test.ts', '--tags-filter', 'elsewhere'];
const usualCount = 4;
const chosen = process.argv.slice(2);
const tests = chosen.length ? chosen : usual;

const started = performance.now();
const say = (text: string): void =>
  console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`);

const physicalNames = async ({ environment }: Emulator): Promise<{ cluster: string; runnerStopped: string }> => {
  const client = {
    endpoint: environment.AWS_ENDPOINT_URL,
    region: environment.AWS_REGION,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const { clusterArns } = await new ECSClient(client).send(new ListClustersCommand({}));
  const { Functions } = await new LambdaClient(client).send(new ListFunctionsCommand({}));
  const runnerStopped = Functions?.find(({ FunctionName }) => FunctionName?.includes('RunnerStopped'))?.FunctionName;
  if (!clusterArns?.[0] || !runnerStopped)
    throw new Error('the stack has no cluster, or no function for stopped tasks');
  return { cluster: clusterArns[0], runnerStopped };
};

const runTests = (local: string, report: string, authority?: string): Promise<number> =>
  new Promise((done) => {
    const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '../vitest.mjs');
    const args = [vitest, 'run', '--config', 'test/vitest.config.ts', '--project', 'e2e', ...tests];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: {
        ...process.env,
        STEPFORM_E2E: local,
        STEPFORM_TEST_REPORT: report,
        NODE_EXTRA_CA_CERTS: authority,
        NODE_OPTIONS: `--import ${localhost}`,
      },
      stdio: 'inherit',
    });
    child.once('exit', (code) => done(code ?? 1));
  });

/** For debugging: calls that IAM would have refused, errors of functions, and actions that the emulator lacks. */
const printLogs = async (emulator: Emulator, folder: string): Promise<void> => {
  const logged = await functionLogs(emulator, /ERROR|error|WARN|not authorized/).catch(String);
  console.error(`--- functions\n${[logged].flat().slice(-60).join('\n')}`);
  for (const name of (await readdir(folder)).filter((file) => file.endsWith('.log'))) {
    const text = await readFile(join(folder, name), 'utf8');
    console.error(`--- ${name}\n${text.slice(-4000)}`);
  }
};

/** A renamed test must not be skipped silently. */
const countProblems = async (report: string): Promise<string[]> => {
  const { numPassedTests: passed } = JSON.parse(await readFile(report, 'utf8')) as { numPassedTests: number };
  const expected = chosen.length ? Math.max(passed, 1) : usualCount;
  return passed === expected ? [] : [`${passed} tests passed here, not ${expected}: test/elsewhere/main.ts names them`];
};

/** Actions of every run: their absence would mean that IAM evaluated nothing. */
const judgedActions = ['dynamodb:UpdateItem', 'ecs:RunTask', 's3:PutObject', 'states:SendTaskSuccess', 'kms:Decrypt'];

/** The emulator's IAM decisions on calls of functions. */
const rightsProblems = async (folder: string): Promise<string[]> => {
  const lines = (await readFile(join(folder, judgedFile), 'utf8')).trim().split('\n');
  const calls = lines.map((line) => JSON.parse(line) as { action: string; resource: string; verdict: string });
  const actions = new Set(calls.map(({ action }) => action));
  say(`IAM judged ${calls.length} calls of functions, ${actions.size} actions`);
  const denied = calls.filter(({ verdict }) => verdict === 'denied');
  return [
    ...judgedActions.filter((action) => !actions.has(action)).map((action) => `IAM judged no ${action}`),
    ...new Set(denied.map(({ action, resource }) => `IAM denied ${action} on ${resource}`)),
  ];
};

const test = async (emulator: Emulator, folder: string): Promise<number> => {
  say('MiniStack answers');
  const deployment = await deploy(emulator, folder);
  say(`cdk bootstrap, cdk deploy: ${Object.keys(deployment.template.Resources).length} resources`);
  console.log(`          left out (test/elsewhere/left-out.ts): ${deployment.leftOut.join(', ')}`);
  const token = await bootstrap(deployment, emulator, organization);
  const local = join(folder, 'local.json');
  await writeFile(local, JSON.stringify({ url: deployment.outputs.ApiUrl, organization, token }), { mode: 0o600 });
  say('owner signed in');
  const containers = new Containers({
    emulator,
    folder,
    ...(await physicalNames(emulator)),
  });
  try {
    const report = join(folder, 'report.json');
    const code = await runTests(local, report, emulator.environment.NODE_EXTRA_CA_CERTS);
    say(`${containers.started} tasks started; tests ended with ${code}`);
    const problems = [...(await countProblems(report)), ...(await verifyProblems(emulator, `--import ${localhost}`))];
    say('stepform verify');
    problems.push(...(await rightsProblems(folder)));
    problems.push(...(await settingsProblems(emulator, folder)));
    say('settings of a second platform: kept, refused, confirmed');
    problems.push(...(await recoveryProblems({ emulator, folder, deployment, token, organization })));
    say('a restored table and a new bucket: checked, repaired, switched to, adopted without a stack');
    for (const problem of problems) console.error(problem);
    return code || (problems.length ? 1 : 0);
  } finally {
    await containers.close();
  }
};

const limitMs = 1_500_000;
const folder = await mkdtemp(join(tmpdir(), 'stepform-elsewhere-'));
await chmod(folder, 0o711);
const emulator = await startEmulator(folder, await provideOpa(say));
const end = async (code: number): Promise<never> => {
  if (typeof emulator !== 'string') await emulator.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
};
if (typeof emulator === 'string') {
  console.error(`SKIPPED: nothing is deployed to an emulator: ${emulator}`);
  await end(0);
} else {
  // All children end with this process, even if it is killed.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(1));
  const late = new Promise<number>((_, reject) => {
    setTimeout(() => reject(new Error(`not done after ${limitMs / 1000} s`)), limitMs).unref();
  });
  const code = await Promise.race([test(emulator, folder), late]).catch((error) => {
    console.error(error);
    return 1;
  });
  if (code) await printLogs(emulator, folder);
  await end(code);
}
