import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { synthesize } from '#infra/build/synth.ts';
import { cdk, runnerImage } from './deploy.ts';
import type { Emulator } from './emulator.ts';

/**
 * Settings that a deployment forgets, on the data stack of a second platform: CloudFormation refuses them, and
 * `stepform deploy` reads the deployed ones.
 */

const stackName = 'Guarded';

const program = 'functions/clients/cli/stepform.mjs';

/** Without it the prerequisites fail. The emulator's own service-linked role of ECS has another name than on AWS. */
const createRoleOfEcs = async ({ environment }: Emulator): Promise<void> => {
  const client = new AwsClient({ accessKeyId: 'test', secretAccessKey: 'test', service: 'iam', region: 'us-east-1' });
  const body = new URLSearchParams({
    Action: 'CreateRole',
    RoleName: 'AWSServiceRoleForECS',
    AssumeRolePolicyDocument: '{"Version":"2012-10-17","Statement":[]}',
    Version: '2010-05-08',
  });
  const response = await client.fetch(environment.AWS_ENDPOINT_URL as string, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
  });
  if (!response.ok) throw new Error(`creating ECS's role: ${response.status} ${await response.text()}`);
};

/** What `stepform deploy --check` prints; it changes nothing. */
const check = ({ environment }: Emulator, settings: string[]): Promise<string> =>
  new Promise((resolve) => {
    const args = [program, 'deploy', '--check', ...settings.flatMap((setting) => ['-c', setting])];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
    execFile(process.execPath, args, { env }, (_, stdout, stderr) => resolve(stdout + stderr));
  });

/** @returns texts of problems */
export const settingsProblems = async (emulator: Emulator, folder: string): Promise<string[]> => {
  const { context } = JSON.parse(await readFile('cdk.json', 'utf8')) as { context?: object };
  const deploy = async (settings: object, ...options: string[]): Promise<string> => {
    const outdir = join(folder, 'guarded');
    const { assembly } = await synthesize({ outdir, context: { ...context, stackName, runnerImage, ...settings } });
    const args = ['deploy', `${stackName}-Data`, '--app', assembly, '--require-approval', 'never', ...options];
    return cdk(args, folder, emulator).then(() => '', String);
  };
  const problems: string[] = [];
  const expect = (text: string, holds: boolean, output: string): void => {
    if (!holds) problems.push(`${text}, but:\n${output}`);
  };
  const first = await deploy({ configurationRetentionDays: 400 });
  expect('a first deployment succeeds', first === '', first);
  const forgotten = await deploy({});
  expect('CloudFormation refuses a forgotten setting', forgotten.includes('npx stepform deploy'), forgotten);
  // The last one equals its default. The emulator, unlike AWS, takes an update of outputs alone for none (aws-cdk #2029).
  const changed = { configurationRetentionDays: 400, runRetentionDays: 365, keyRotationDays: 2560 };
  const confirmed = await deploy(changed, '--no-previous-parameters');
  expect('a confirmed change deploys', confirmed === '', confirmed);

  await createRoleOfEcs(emulator);
  const read = await check(emulator, [`stackName=${stackName}`, 'readySeconds=60']);
  const lines = [
    /kept +configurationRetentionDays +400/,
    /kept +runRetentionDays +365/,
    /kept +keyRotationDays +2560/,
    /changed +readySeconds +default → 60/,
  ];
  expect(
    'stepform deploy reads the deployed settings',
    lines.every((line) => line.test(read)),
    read,
  );
  return problems;
};
