import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { copies } from '#infra/deployment/verify/checks/copies.ts';
import { Platform } from '#infra/deployment/verify/platform.ts';
import type { Target } from '#infra/deployment/verify/target.ts';
import { serve } from '#test/support/serve.ts';

/** The check `copies elsewhere` of `stepform verify` with responses as AWS Backup and S3 document them. */

const vault = 'arn:aws:backup:eu-west-1:123456789012:backup-vault:elsewhere';
const replica = 'arn:aws:s3:::elsewhere';
const target = (settings: Record<string, unknown>): Target => ({
  kind: 'aws',
  title: '',
  caller: { region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' } },
  stacks: [],
  apiUrl: '',
  environmentsUrl: '',
  stateMachineArn: 'arn:aws:states:us-east-1:123456789012:stateMachine:Runs',
  bootstrapFunction: '',
  cluster: '',
  table: 'Table',
  bucket: 'objects',
  settings,
});

const hoursAgo = (hours: number): number => Date.now() / 1000 - hours * 3600;
const job = (hours: number, State = 'COMPLETED', DestinationBackupVaultArn = vault) => ({
  State,
  DestinationBackupVaultArn,
  CreationDate: hoursAgo(hours + 2),
  ...(State === 'COMPLETED' ? { CompletionDate: hoursAgo(hours) } : { StatusMessage: 'Access Denied' }),
});

let jobs: object[];
/** Age in minutes and status by key. */
let objects: Record<string, [minutes: number, status?: string]>;
let paths: string[];

const aws = await serve((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  paths.push(pathname);
  if (pathname === '/copy-jobs/') {
    expect(searchParams.get('resourceArn')).toBe('arn:aws:dynamodb:us-east-1:123456789012:table/Table');
    return response.end(JSON.stringify({ CopyJobs: jobs }));
  }
  if (request.method === 'HEAD') {
    const status = objects[pathname.slice('/objects/'.length)]?.[1];
    return response.writeHead(200, status ? { 'x-amz-replication-status': status } : {}).end();
  }
  const listed = Object.entries(objects).filter(([key]) => key.startsWith(searchParams.get('prefix') as string));
  const contents = listed.map(([key, [minutes]]) => {
    const time = new Date(Date.now() - minutes * 60_000).toISOString();
    return `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><Size>1</Size></Contents>`;
  });
  return response.end(`<ListBucketResult>${contents.join('')}</ListBucketResult>`);
});

beforeEach(() => {
  vi.stubEnv('AWS_ENDPOINT_URL', aws.url);
  jobs = [];
  objects = {};
  paths = [];
});
afterEach(() => vi.unstubAllEnvs());

const check = (settings: Record<string, unknown>) => copies.perform(new Platform(target(settings)));
const table = () => check({ backupVaultArn: vault });
const bucket = () => check({ replicaBucketArn: replica });

it('is left out where no copies are set', () => {
  expect(copies.isFor?.(target({}))).toBe(false);
  expect(copies.isFor?.(target({ backupVaultArn: vault }))).toBe(true);
  expect(copies.isFor?.(target({ replicaBucketArn: replica }))).toBe(true);
});

it('accepts a copy of the table from within two days, in the vault of the setting', async () => {
  jobs = [job(60), job(20), job(1, 'COMPLETED', `${vault}-other`)];
  expect(await table()).toMatchObject({ result: 'ok', text: 'the newest copy of the table is 20 h old' });
  expect(paths).toEqual(['/copy-jobs/']);
  jobs = [job(60)];
  await expect(table()).rejects.toThrow('the newest copy of the table is 60 h old; documented: 48 h at most');
});

it('reports a failed copy with its reason, and a vault without a copy yet', async () => {
  expect(await table()).toMatchObject({ result: 'differs', text: expect.stringContaining('no copy of the table') });
  jobs = [job(1, 'FAILED')];
  await expect(table()).rejects.toThrow('the last copy failed: Access Denied');
  jobs = [job(1, 'FAILED'), job(25)];
  expect(await table()).toMatchObject({
    result: 'differs',
    text: expect.stringMatching(/25 h old; the last copy failed/),
  });
});

it('reads the replication status of the newest object that is old enough', async () => {
  objects = {
    'states/ws-1/sv-1': [90],
    'states/ws-1/sv-2': [40, 'COMPLETED'],
    'states/ws-1/sv-3': [3, 'PENDING'],
    'runs/run-1/plan': [40, 'FAILED'],
  };
  expect(await bucket()).toMatchObject({ result: 'ok', text: 'states: the newest object is copied' });
  objects['policies/p'] = [20, 'PENDING'];
  expect(await bucket()).toMatchObject({ result: 'differs', text: 'policies/p is PENDING after 15 minutes' });
  objects['registry/m'] = [20, 'FAILED'];
  await expect(bucket()).rejects.toThrow(`S3 could not copy registry/m into ${replica}`);
});

it('says that no object shows whether objects are copied', async () => {
  objects = { 'states/ws-1/sv-1': [90] };
  expect(await bucket()).toMatchObject({
    result: 'differs',
    text: expect.stringContaining('no object is 15 minutes old'),
  });
});
