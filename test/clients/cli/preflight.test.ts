import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { endpointOf } from '#clients/cli/ask-aws.ts';
import { preflight } from '#clients/cli/preflight.ts';

/** The called services, with the operations that the checks use. */
let server: Server;
let folder: string;
interface Answer {
  status: number;
  body: string;
}
let identity: Answer;
let parameter: Answer;
let quota: Answer;
/** By a part of the action, its input or its path. */
let answers: Record<string, Answer>;
const actions: string[] = [];

const docker = (script: string): string => {
  const path = join(folder, 'docker');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'preflight-'));
  server = createServer(async (request, response) => {
    const body = await text(request);
    const action = String(request.headers['x-amz-target'] ?? (body || request.url));
    actions.push(action);
    const [, answer] = Object.entries(answers).find(([name]) => action.includes(name) || body.includes(name)) ?? [];
    const { status, body: answered } = answer ?? identity;
    response.writeHead(status).end(answered);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  actions.length = 0;
  identity = {
    status: 200,
    body: '<GetCallerIdentityResponse><Account>123456789012</Account></GetCallerIdentityResponse>',
  };
  parameter = { status: 200, body: JSON.stringify({ Parameter: { Value: '21' } }) };
  quota = { status: 200, body: JSON.stringify({ Quota: { Value: 1000 } }) };
  answers = {
    get GetParameter() {
      return parameter;
    },
    get Quota() {
      return quota;
    },
    GetRole: { status: 200, body: '<GetRoleResponse/>' },
    DescribeVpcs: { status: 200, body: '<item><vpcId>vpc-1</vpcId></item>' },
    '/layers': { status: 200, body: '{"Layers":[]}' },
  };
  vi.unstubAllEnvs();
  for (const name of ['AWS_PROFILE', 'AWS_DEFAULT_REGION', 'AWS_SESSION_TOKEN', 'AWS_ENDPOINT_URL_STS'])
    vi.stubEnv(name, '');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('CDK_DOCKER', docker('echo 28.0'));
});

const whats = async () => (await preflight()).missing.map(({ what }) => what);

it('preflight finds no missing prerequisites in a prepared account', async () => {
  expect(await preflight()).toEqual({ account: '123456789012', region: 'eu-central-1', missing: [], low: [] });
  expect(actions).toHaveLength(8);
});

it('preflight names low quotas of a new account and how to raise them, without blocking the deployment', async () => {
  quota.body = JSON.stringify({ Quota: { Value: 100 } });
  expect((await preflight()).low, 'just enough').toEqual([]);
  quota.body = JSON.stringify({ Quota: { Value: 6 } });
  const { missing, low } = await preflight();
  expect(missing).toEqual([]);
  expect(low).toEqual([
    {
      what: 'Lambda: concurrent executions: 6 in eu-central-1. Runs will wait for each other.',
      todo: 'aws service-quotas request-service-quota-increase --region eu-central-1 --service-code lambda --quota-code L-B99A9384 --desired-value 1000',
    },
    expect.objectContaining({ what: expect.stringContaining('Fargate: On-Demand vCPUs: 6') }),
  ]);
  // Users without permission to read quotas can deploy all the same.
  for (const [status, body] of [
    [400, '{"__type":"AccessDeniedException"}'],
    [200, 'no JSON'],
  ] as const) {
    quota = { status, body };
    expect((await preflight()).low).toEqual([]);
  }
});

it('preflight names a missing region and missing credentials without calling AWS', async () => {
  vi.stubEnv('AWS_REGION', undefined);
  vi.stubEnv('AWS_DEFAULT_REGION', undefined);
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
  vi.stubEnv('CDK_DOCKER', join(folder, 'nothing-there'));
  expect(await whats()).toEqual([
    'Region: not set.',
    'Credentials: not found.',
    expect.stringContaining('nothing-there not found on the PATH'),
  ]);
  expect(actions).toEqual([]);
});

it('preflight calls no AWS without a region', async () => {
  vi.stubEnv('AWS_REGION', undefined);
  vi.stubEnv('AWS_DEFAULT_REGION', undefined);
  expect([await whats(), actions]).toEqual([['Region: not set.'], []]);
});

it('preflight names credentials that AWS rejects, and stops there', async () => {
  identity = { status: 403, body: '<Error><Message>The security token is expired</Message></Error>' };
  expect(await whats()).toEqual(['Credentials: AWS rejected them (The security token is expired).']);
  expect(actions).toHaveLength(1);
});

it('preflight names an account without CDK bootstrap, or with an old one, and the command', async () => {
  parameter = { status: 400, body: '{"__type":"ParameterNotFound"}' };
  expect((await preflight()).missing).toEqual([
    {
      what: 'CDK bootstrap: 123456789012 is not bootstrapped in eu-central-1.',
      todo: 'npx cdk bootstrap aws://123456789012/eu-central-1',
    },
  ]);
  expect((await preflight({ '@aws-cdk/core:bootstrapQualifier': 'own' })).missing).toEqual([
    {
      what: 'CDK bootstrap (own): 123456789012 is not bootstrapped in eu-central-1.',
      todo: 'npx cdk bootstrap aws://123456789012/eu-central-1 --qualifier own --toolkit-stack-name CDKToolkit-own',
    },
  ]);
  parameter = { status: 200, body: JSON.stringify({ Parameter: { Value: '5' } }) };
  expect(await whats()).toEqual([expect.stringContaining('version 5 of 123456789012')]);
  // Without permission to read the version, the CDK checks it.
  parameter = { status: 400, body: '{"__type":"AccessDeniedException"}' };
  expect(await whats()).toEqual([]);
});

it('preflight accepts the oldest bootstrap of the CDK, and names one that it cannot read', async () => {
  parameter.body = JSON.stringify({ Parameter: { Value: '6' } });
  expect(await whats()).toEqual([]);
  parameter = { status: 500, body: 'x'.repeat(300) };
  expect(await whats()).toEqual([`CDK bootstrap: its version in eu-central-1 cannot be read (${'x'.repeat(200)}).`]);
});

it('preflight shows the beginning of a response without a message', async () => {
  identity = { status: 500, body: 'y'.repeat(300) };
  expect(await whats()).toEqual([`Credentials: AWS rejected them (${'y'.repeat(200)}).`]);
});

it('preflight reports nothing for checks without permission', async () => {
  vi.stubEnv('AWS_REGION', 'us-west-1');
  const denied = { status: 403, body: '<Error><Code>UnauthorizedOperation</Code></Error>' };
  answers = { ...answers, DescribeVpcs: denied, DescribeAvailabilityZones: denied, '/layers': denied };
  quota.body = JSON.stringify({ Quota: { Value: 0 } });
  expect(await whats()).toEqual([]);
});

it.each([
  ['cn-north-1', 'aws-cn'],
  ['us-gov-west-1', 'aws-us-gov'],
  ['eu-central-1', 'aws'],
])('preflight accepts credentials of the partition of %s', async (region, partition) => {
  vi.stubEnv('AWS_REGION', region);
  identity.body = `<Arn>arn:${partition}:iam::123456789012:user/x</Arn><Account>123456789012</Account>`;
  expect((await preflight()).account).toBe('123456789012');
});

it('preflight names a Docker without daemon, and an AWS that does not respond', async () => {
  vi.stubEnv('CDK_DOCKER', docker('exit 1'));
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9');
  expect(await whats()).toEqual([
    expect.stringContaining('AWS: no response from eu-central-1'),
    expect.stringContaining('its daemon is not running'),
  ]);
});

it('preflight names a missing service-linked role of ECS, and the command that creates it', async () => {
  answers.GetRole = { status: 404, body: '<Error><Code>NoSuchEntity</Code></Error>' };
  expect((await preflight()).missing).toEqual([
    {
      what: expect.stringContaining('no service-linked role'),
      todo: 'aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com',
    },
  ]);
  answers.GetRole = { status: 403, body: '<Error><Code>AccessDenied</Code></Error>' };
  expect(await whats()).toEqual([]);
});

it('preflight names an exhausted VPC quota, except with an existing network or in an upgrade', async () => {
  const networks = (tags = '') => ['vpc-1', 'vpc-2'].map((id) => `<item><vpcId>${id}</vpcId>${tags}</item>`).join('');
  quota.body = JSON.stringify({ Quota: { Value: 2 } });
  answers.DescribeVpcs = { status: 200, body: networks() };
  expect((await preflight()).missing).toEqual([
    { what: expect.stringContaining('VPC: 2 of 2'), todo: expect.stringContaining('-c vpcId=') },
  ]);
  expect((await preflight({ vpcId: 'vpc-1' })).missing).toEqual([]);
  answers.DescribeVpcs.body = networks(
    '<tagSet><item><key>aws:cloudformation:stack-name</key><value>Stepform</value></item></tagSet>',
  );
  expect(await whats()).toEqual([]);
  expect((await preflight({ stackName: 'Second' })).missing).toHaveLength(1);
});

it('preflight names zones of the network without Fargate', async () => {
  const zones = (...ids: string[]) =>
    ids.map((id, n) => `<item><zoneName>us-west-1${'abc'[n]}</zoneName><zoneId>${id}</zoneId></item>`).join('');
  vi.stubEnv('AWS_REGION', 'us-west-1');
  answers.DescribeAvailabilityZones = { status: 200, body: zones('usw1-az2', 'usw1-az4', 'usw1-az5') };
  expect(await whats()).toEqual([
    expect.stringContaining('not in zone us-west-1a (usw1-az2)'),
    expect.stringContaining('not in zone us-west-1b (usw1-az4)'),
  ]);
  answers.DescribeAvailabilityZones.body = zones('usw1-az3', 'usw1-az1', 'usw1-az2');
  expect(await whats()).toEqual([]);
  const [a, b, c] = answers.DescribeAvailabilityZones.body.split(/(?=<item>)/);
  answers.DescribeAvailabilityZones.body = `${c}${a}${b}`;
  expect(await whats(), 'the first two by name').toEqual([]);
});

it.each([
  ['sts', 'eu-west-1', 'sts.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['ec2', 'cn-northwest-1', 'ec2.cn-northwest-1.amazonaws.com.cn', 'cn-northwest-1'],
  ['iam', 'eu-west-1', 'iam.amazonaws.com', 'us-east-1'],
  ['iam', 'cn-northwest-1', 'iam.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['iam', 'us-gov-east-1', 'iam.us-gov.amazonaws.com', 'us-gov-west-1'],
] as const)('preflight calls %s in %s at %s', (service, region, host, signedFor) => {
  expect(endpointOf(service, region)).toEqual({ host, signedFor });
});

it('preflight names a region without the runtime of the functions', async () => {
  answers['/layers'] = { status: 400, body: '{"__type":"InvalidParameterValueException"}' };
  expect(await whats()).toEqual(['Lambda: no runtime nodejs24.x in eu-central-1.']);
});

it('preflight checks the bootstrap whose qualifier the deployment uses', async () => {
  parameter = { status: 400, body: '{"__type":"ParameterNotFound"}' };
  const { missing } = await preflight({ '@aws-cdk/core:bootstrapQualifier': 'acme' });
  expect(missing[0]?.todo).toBe(
    'npx cdk bootstrap aws://123456789012/eu-central-1 --qualifier acme --toolkit-stack-name CDKToolkit-acme',
  );
});

it('preflight names a region outside the partition of the credentials', async () => {
  identity.body = '<Arn>arn:aws-us-gov:iam::123456789012:user/x</Arn><Account>123456789012</Account>';
  expect(await whats()).toEqual([expect.stringContaining('eu-central-1 is not in the partition')]);
});

it('preflight names a certificate that domain names cannot use', async () => {
  const certificateArn = 'arn:aws:acm:eu-central-1:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef';
  const domain = { domainName: 'tf.example.com', environmentsDomainName: 'dev.tf.example.com', certificateArn };
  const certificate = (Status: string, ...names: string[]) => {
    const Certificate = { CertificateArn: certificateArn, Status, SubjectAlternativeNames: names };
    answers.DescribeCertificate = { status: 200, body: JSON.stringify({ Certificate }) };
  };
  const found = async (more: object = {}) => (await preflight({ ...domain, ...more })).missing.map(({ what }) => what);
  const request =
    'aws acm request-certificate --region eu-central-1 --validation-method DNS --domain-name tf.example.com';

  certificate('ISSUED', 'tf.example.com', '*.tf.example.com');
  expect(await found()).toEqual([]);
  certificate('ISSUED', '*.example.com');
  expect(await found()).toEqual(['Certificate: it does not have the name dev.tf.example.com.']);
  expect((await preflight(domain)).missing[0]?.todo).toBe(`${request} --subject-alternative-names dev.tf.example.com`);
  const alone = { ...domain, environmentsDomainName: undefined };
  certificate('ISSUED', 'other.example.com');
  expect((await preflight(alone)).missing.map(({ todo }) => todo)).toEqual([request]);
  certificate('PENDING_VALIDATION', 'tf.example.com');
  expect(await found()).toEqual(['Certificate: its status is PENDING_VALIDATION, not ISSUED.']);
  expect(await found({ certificateArn: certificateArn.replace('eu-central-1', 'us-east-1') })).toEqual([
    'Certificate: in us-east-1, but the deployment is in eu-central-1.',
  ]);
  answers.DescribeCertificate = { status: 400, body: '{"__type":"ResourceNotFoundException"}' };
  expect(await found()).toEqual([`Certificate: ${certificateArn} does not exist.`]);
  // Users with only the CDK's roles deploy all the same.
  answers.DescribeCertificate = { status: 400, body: '{"__type":"AccessDeniedException"}' };
  expect(await found()).toEqual([]);
});

it('preflight names a Docker that cannot build for the architecture of the runners', async () => {
  const builds = (own: string, ...platforms: string[]) =>
    vi.stubEnv(
      'CDK_DOCKER',
      docker(`case "$1" in info) echo "28.0 ${own}";; buildx) echo "Platforms: ${platforms.join(', ')}";; esac`),
    );
  builds('x86_64', 'linux/amd64');
  expect(await whats()).toEqual([]);
  builds('aarch64', 'linux/arm64', 'linux/amd64*');
  expect(await whats()).toEqual([]);
  vi.stubEnv('CDK_DOCKER', docker('case "$1" in info) echo "28.0 aarch64";; buildx) echo no; exit 1;; esac'));
  expect(await whats(), 'without buildx').toEqual([]);
  vi.stubEnv('CDK_DOCKER', docker('true'));
  expect(await whats()).toEqual([expect.stringContaining('its daemon is not running')]);
  builds('aarch64', 'linux/arm64', 'linux/arm/v7');
  expect((await preflight({ runnerImage: 'built elsewhere' })).missing).toEqual([]);
  expect((await preflight()).missing).toEqual([
    {
      what: "Docker: it cannot build the runners' image for linux/amd64 on linux/arm64.",
      todo: expect.stringContaining('tonistiigi/binfmt --install amd64'),
    },
  ]);
  expect((await preflight({ runnerArchitecture: 'arm64' })).missing).toEqual([]);
});

it('preflight names a vault that would be lost with the platform, and an account that cannot copy tables', async () => {
  const found = async (backupVaultArn?: string) => (await preflight({ backupVaultArn })).missing;
  const vault = (region: string, account: string) => `arn:aws:backup:${region}:${account}:backup-vault:stepform`;
  const here = vault('eu-central-1', '123456789012');
  answers['/account-settings'] = {
    status: 200,
    body: JSON.stringify({ ResourceTypeManagementPreference: { DynamoDB: true, EFS: true } }),
  };
  expect((await found(here)).map(({ what }) => what)).toEqual([
    `Backup: vault ${here} is in the account and region of the deployment, and would be lost with them.`,
  ]);
  for (const elsewhere of [vault('eu-west-1', '123456789012'), vault('eu-central-1', '210987654321')])
    expect(await found(elsewhere)).toEqual([]);
  for (const preference of [{ DynamoDB: false }, {}, undefined]) {
    answers['/account-settings'].body = JSON.stringify({ ResourceTypeManagementPreference: preference });
    const [finding] = await found(vault('eu-west-1', '123456789012'));
    expect(finding?.todo).toMatch(/^aws backup update-region-settings --region eu-central-1 .*management-preference/);
  }
  answers['/account-settings'] = { status: 403, body: '{"Message":"AccessDenied"}' };
  expect(await found(vault('eu-west-1', '123456789012'))).toEqual([]);
  actions.length = 0;
  await found();
  expect(actions).not.toContain('/account-settings');
});
