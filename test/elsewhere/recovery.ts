import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { packFiles } from '#clients/cli/archive.ts';
import { providePython } from '#infra/build/python.ts';
import { Client, isFinalRun } from '#test/e2e/support/waiting.ts';
import { type Deployment, redeploy, runnerImage } from './deploy.ts';
import type { Emulator } from './emulator.ts';

/**
 * infra/docs/recovery.md, step by step with the AWS CLI: a table restored beside the live one, and a bucket without any
 * configuration, are checked, repaired with the printed commands, and put into use.
 */

const packages: [string, ...string[]] = [
  'awscli==1.46.3',
  'colorama==0.4.6',
  'docutils==0.19',
  'jmespath==1.1.0',
  'pyasn1==0.6.5',
  'python-dateutil==2.9.0.post0',
  'PyYAML==6.0.4',
  'rsa==4.7.2',
  'six==1.17.0',
  'urllib3==2.8.0',
];

export interface Deployed {
  emulator: Emulator;
  folder: string;
  deployment: Deployment;
  /** Of the owner. */
  token: string;
  organization: string;
}

type Shell = (script: string) => Promise<string>;

/** Standard output and errors, also of commands that fail. */
const shellOf =
  ({ environment }: Emulator, folder: string, aws: string): Shell =>
  (script) =>
    new Promise((resolve) => {
      const own = { AWS_CA_BUNDLE: environment.NODE_EXTRA_CA_CERTS, AWS_PAGER: '', HOME: folder };
      const env = { ...environment, ...own, PATH: `${dirname(aws)}:${process.env.PATH}` };
      // Through a pipe: Node's own standard output is a socket, which cannot be opened as /dev/stdout.
      execFile('bash', ['-c', `{ ${script}\n} 2>&1 | cat`], { env }, (_, stdout) => resolve(stdout));
    });

/** Code blocks of the section on restoring the table. */
const stepsOf = async (): Promise<string[]> => {
  const page = await readFile('infra/docs/recovery.md', 'utf8');
  const section = page.split('## Restore the table to a point in time')[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
};

const stepform = `"${process.execPath}" functions/clients/cli/stepform.mjs`;
const image = `-c runnerImage=${runnerImage}`;

/** The commands that a check prints as remedies. */
const remediesIn = (output: string): string[] => output.match(/^ +aws .*$/gm)?.map((line) => line.trim()) ?? [];

const newBucket = 'stepform-copied-objects';

/** @returns texts of problems */
export const recoveryProblems = async (deployed: Deployed): Promise<string[]> => {
  const { emulator, folder, deployment, token, organization } = deployed;
  const provided = await providePython('aws', packages);
  if ('missing' in provided) {
    console.log(`          SKIPPED: recovery, because there is no AWS CLI: ${provided.missing}`);
    return [];
  }
  const shell = shellOf(emulator, folder, provided.program);
  const problems: string[] = [];
  const expect = (text: string, holds: boolean, output: string): void => {
    if (!holds) problems.push(`${text}, but:\n${output}`);
  };
  const client = new Client(deployment.outputs.ApiUrl, token);
  const steps = await stepsOf();
  expect('the page has four steps', steps.length === 4, steps.join('\n'));
  const [restore = '', check = '', , recover = ''] = steps;

  const outputOf = async (name: string) => {
    const query = `Stacks[0].Outputs[?OutputKey=='${name}'].OutputValue`;
    const stack = 'aws cloudformation describe-stacks --stack-name Stepform-Data';
    return (await shell(`${stack} --query "${query}" --output text`)).trim();
  };
  const [table, key] = [await outputOf('TableName'), await outputOf('KeyArn')];
  const restoredTo = new Date(Date.now() - 1000).toISOString();
  const known = `TABLE=${table} TIME=${restoredTo}\n`;

  const restored = await shell(restore.replace(/^TABLE=.*$/m, known));
  expect('the table is restored', restored.includes(`${table}-restored`), restored);

  const checkWith = (options: string) =>
    shell(`${known}${check.replace(/^stepform /m, `${stepform} `)} ${options}`.replaceAll('\n ', ' '));
  const differences = await checkWith(image);
  const parts = ['time to live', 'point-in-time recovery', 'deletion protection'];
  // The emulator's restore also omits the encryption, unlike DynamoDB's.
  expect(
    'the check finds what a restore omits',
    parts.every((part) => differences.includes(part)) && remediesIn(differences).length <= parts.length + 1,
    differences,
  );
  for (const remedy of remediesIn(differences)) await shell(remedy);
  const repaired = await checkWith(image);
  expect('the printed commands repair the table', repaired.includes('ready to deploy'), repaired);

  const workspace = await client.createWorkspace(organization, 'after-the-restore');
  await redeploy(emulator, folder, { tableName: `${table}-restored` });
  const lost = await client.get(`/workspaces/${workspace.id}`).then(
    () => 'found',
    ({ status }: { status: number }) => status,
  );
  expect('the platform uses the restored table', lost === 404, String(lost));
  const live = await shell(`aws dynamodb describe-table --table-name ${table} --query Table.TableStatus --output text`);
  expect('the live table stays', live.trim() === 'ACTIVE', live);
  // The option exists in version 2 of the AWS CLI only, which is not on PyPI.
  const invocation = recover.replace(' --cli-binary-format raw-in-base64-out', '');
  const ended = await shell(
    known + invocation.replace('<RecoverFunctionName>', deployment.outputs.RecoverFunctionName),
  );
  expect('Recover completes', /"done": ?true/.test(ended), ended);

  // Data of a deleted stack, or of another region: a bucket that nothing is configured in.
  await shell(`aws s3api create-bucket --bucket ${newBucket}`);
  const adopted = `-c tableName=${table}-restored -c bucketName=${newBucket} -c keyArn=${key}`;
  const adoption = `${stepform} deploy --check ${adopted} ${image}`;
  const unconfigured = await shell(adoption);
  const missing = remediesIn(unconfigured);
  expect('the check finds the missing configuration of a bucket', missing.length >= 6, unconfigured);
  for (const remedy of missing) await shell(remedy);
  const configured = await shell(adoption);
  expect('the printed commands configure the bucket', configured.includes('ready to deploy'), configured);
  await redeploy(emulator, folder, { tableName: `${table}-restored`, bucketName: newBucket, keyArn: key });

  const again = await client.createWorkspace(organization, 'after-the-adoption');
  const version = await client.upload(again.id, await packFiles({ 'main.tf': 'resource "terraform_data" "a" {}' }));
  const run = await client.createRun(again.id, { 'auto-apply': true }, version.id);
  const { status } = (await client.waitForRun(run.id, isFinalRun)).attributes;
  expect('a run applies with the adopted data', status === 'applied', status);
  const objects = await shell(`aws s3 ls s3://${newBucket}/states/ --recursive`);
  expect('its state is in the adopted bucket', objects.includes(again.id), objects);
  return problems;
};
