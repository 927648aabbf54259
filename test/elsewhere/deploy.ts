import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type StackTemplate, synthesize, type Template } from '#infra/build/synth.ts';
import type { Emulator } from './emulator.ts';
import { leaveOut } from './left-out.ts';
import { expandApis } from './openapi.ts';

/** The synthesized application, deployed with the real CDK command line. */

const cdkPackage = createRequire(import.meta.url).resolve('aws-cdk/package.json');
const stackName = 'Stepform';

export interface Deployment {
  outputs: {
    ApiUrl: string;
    StateMachineArn: string;
    BootstrapFunctionName: string;
    RecoverFunctionName: string;
  };
  template: Template;
  /** Logical ids. */
  leftOut: string[];
}

export const cdk = (args: string[], folder: string, { environment }: Emulator): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(cdkPackage, '../bin/cdk'), ...args, '--ci', '--no-notices'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, CDK_DISABLE_CLI_TELEMETRY: 'true', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let tail = '';
    const keep = (chunk: Buffer): void => {
      appendFileSync(join(folder, 'cdk.log'), chunk);
      tail = (tail + chunk).slice(-3000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`cdk ${args[0]} ended with ${code}:\n${tail}`)),
    );
  });

/**
 * Needs no Docker: containers.ts runs the task definition's command, which reads the program from the bucket of assets.
 */
export const runnerImage = 'public.ecr.aws/docker/library/node:24-bookworm';

/** The assembly without resources that the emulator lacks. */
const prepare = async (
  folder: string,
  settings: object = {},
): Promise<Omit<Deployment, 'outputs'> & { assembly: string }> => {
  const { context } = JSON.parse(await readFile('cdk.json', 'utf8')) as { context?: object };
  const outdir = join(folder, 'assembly');
  const { assembly, templates } = await synthesize({ outdir, context: { ...context, runnerImage, ...settings } });
  const { file, template } = templates.at(-1) as StackTemplate;
  const leftOut = leaveOut(template);
  expandApis(template);
  await writeFile(file, JSON.stringify(template));
  // The command line would parse it again for each event of the deployment: half of its time.
  await writeFile(file.replace(/template(?=\.json$)/, 'metadata'), '{}');
  return { assembly, template, leftOut };
};

export const deploy = async (emulator: Emulator, folder: string): Promise<Deployment> => {
  const [{ assembly, ...rest }] = await Promise.all([prepare(folder), cdk(['bootstrap', account], folder, emulator)]);
  const file = join(folder, 'outputs.json');
  const options = ['--require-approval', 'never', '--method', 'direct', '--outputs-file', file];
  await cdk(['deploy', '--all', '--app', assembly, ...options], folder, emulator);
  const outputs = JSON.parse(await readFile(file, 'utf8'))[stackName] as Deployment['outputs'];
  return { outputs, ...rest };
};

/** Deploys with other settings, like `stepform deploy` after its checks. */
export const redeploy = async (emulator: Emulator, folder: string, settings: object): Promise<void> => {
  const { assembly } = await prepare(folder, settings);
  const options = ['--require-approval', 'never', '--method', 'direct', '--no-previous-parameters'];
  await cdk(['deploy', '--all', '--app', assembly, ...options], folder, emulator);
};

/** The emulator's default account. */
const account = 'aws://000000000000/us-east-1';

/**
 * The README's steps after a deployment.
 * @returns an API token of the owner
 */
export const bootstrap = async (
  { outputs }: Deployment,
  { environment }: Emulator,
  organization: string,
): Promise<string> => {
  const lambda = new LambdaClient({
    endpoint: environment.AWS_ENDPOINT_URL,
    region: environment.AWS_REGION,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const { Payload, FunctionError } = await lambda.send(
    new InvokeCommand({
      FunctionName: outputs.BootstrapFunctionName,
      Payload: JSON.stringify({ organization, email: 'owner@example.com' }),
    }),
  );
  const text = Buffer.from(Payload ?? []).toString();
  if (FunctionError) throw new Error(`the Bootstrap function failed: ${text}`);
  const { secret } = JSON.parse(text) as { secret: string };
  const response = await fetch(`${outputs.ApiUrl}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'urn:stepform:one-time-secret', secret }),
  });
  if (!response.ok) throw new Error(`signing in: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
};
