import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { type StackTemplate, type Synthesis, synthesize, type Template } from '#infra/build/synth.ts';
import { dataFormat } from '#infra/settings/data-format.ts';
import { cdk, runnerImage } from './deploy.ts';
import type { Emulator } from './emulator.ts';

/**
 * Settings that a deployment forgets, and a downgrade, on the data stack of a second platform: CloudFormation refuses
 * both, and `stepform deploy` reads the deployed settings.
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

/**
 * The template of a version with another format of the data, and another description of the key: the emulator, unlike AWS,
 * takes an update without a change of a resource for none (aws-cdk #2029).
 */
const withFormat = (template: Template, format: string): Template =>
  JSON.parse(
    JSON.stringify(template, (key, value) => {
      if (key === 'Description' && String(value).includes('sensitive variables')) return `${value}, format ${format}`;
      if (key === 'ConfirmedDataFormat') return { ...value, Default: format };
      const [first, second] = key === 'Fn::Equals' ? (value as unknown[]) : [];
      return second === String(dataFormat) ? [first, format] : value;
    }),
  ) as Template;

/** Makes the data stack of an assembly an older version. The CDK uploads a template once for each hash in its name. */
const makeOlder = async ({ assembly, templates }: Synthesis): Promise<void> => {
  const [{ file, template }] = templates as [StackTemplate];
  await writeFile(file, JSON.stringify(withFormat(template, '1')));
  const assets = join(assembly, `${stackName}-Data.assets.json`);
  const { files } = JSON.parse(await readFile(assets, 'utf8')) as {
    files: Record<string, { source: { path: string } }>;
  };
  const [hash = ''] = Object.entries(files).find(([, { source }]) => source.path === basename(file)) ?? [];
  for (const name of [assets, join(assembly, 'manifest.json')])
    await writeFile(
      name,
      (await readFile(name, 'utf8')).replaceAll(
        hash,
        hash.replace(/^./, (c) => (c === '0' ? '1' : '0')),
      ),
    );
};

/** @returns texts of problems */
export const settingsProblems = async (emulator: Emulator, folder: string): Promise<string[]> => {
  const { context } = JSON.parse(await readFile('cdk.json', 'utf8')) as { context?: object };
  const synthesized = (settings: object) =>
    synthesize({
      outdir: join(folder, 'guarded'),
      context: { ...context, stackName, runnerImage, ...settings },
    });
  const deployAssembly = (assembly: string, ...options: string[]): Promise<string> => {
    const args = ['deploy', `${stackName}-Data`, '--app', assembly, '--require-approval', 'never', ...options];
    return cdk(args, folder, emulator).then(() => '', String);
  };
  const deploy = async (settings: object, ...options: string[]): Promise<string> =>
    deployAssembly((await synthesized(settings)).assembly, ...options);
  const problems: string[] = [];
  const expect = (text: string, holds: boolean, output: string): void => {
    if (!holds) problems.push(`${text}, but:\n${output}`);
  };
  const first = await deploy({ configurationRetentionDays: 400 });
  expect('a first deployment succeeds', first === '', first);
  const forgotten = await deploy({});
  expect('CloudFormation refuses a forgotten setting', forgotten.includes('npx stepform deploy'), forgotten);
  // The last one equals its default.
  const changed = { configurationRetentionDays: 400, runRetentionDays: 365, keyRotationDays: 2560 };
  const confirmed = await deploy(changed, '--no-previous-parameters');
  expect('a confirmed change deploys', confirmed === '', confirmed);

  const older = await synthesized(changed);
  await makeOlder(older);
  const downgraded = await deployAssembly(older.assembly);
  expect(
    'CloudFormation refuses a version that would misread the data',
    downgraded.includes('recovery.md'),
    downgraded,
  );

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
