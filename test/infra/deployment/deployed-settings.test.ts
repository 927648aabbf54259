import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, it } from 'vitest';
import { dataFormat } from '#infra/settings/data-format.ts';
import { serve } from '#test/support/serve.ts';

/** `stepform deploy` against CloudFormation's responses (API reference: DescribeStacks), without deploying. */

/** Responses to DescribeStacks, by the name of the stack. */
let stacks: Record<string, { status: number; body: string }>;
let identity: { status: number; body: string };

const answer = (body: string): { status: number; body: string } => {
  if (body.includes('Action=GetCallerIdentity')) return identity;
  const stack = /Action=DescribeStacks&StackName=([^&]+)/.exec(body)?.[1];
  if (stack) return stacks[stack] ?? missing(stack);
  return { status: 200, body: JSON.stringify({ Parameter: { Value: '21' }, Quota: { Value: 1000 } }) };
};

const missing = (stack: string) => ({
  status: 400,
  body: `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
  <Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${stack} does not exist</Message></Error>
  <RequestId>b9b4b068-3a41-11e5-94eb-example</RequestId></ErrorResponse>`,
});

const escaped = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const stack = (settings: object | undefined, status = 'UPDATE_COMPLETE', format = dataFormat) => ({
  status: 200,
  body: `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
    <StackId>arn:aws:cloudformation:eu-central-1:123456789012:stack/Stepform/aaf549a0</StackId><StackName>Stepform</StackName>
    <Parameters><member><ParameterKey>ConfirmedSettings</ParameterKey><ParameterValue>{}</ParameterValue></member></Parameters>
    <CreationTime>2026-01-02T03:04:05.678Z</CreationTime><LastUpdatedTime>2026-02-03T04:05:06.789Z</LastUpdatedTime>
    <StackStatus>${status}</StackStatus>
    <Outputs>
      <member><OutputKey>DataFormat</OutputKey><OutputValue>${format}</OutputValue></member>
      <member><OutputKey>ApiUrl</OutputKey><OutputValue>https://a.example.com</OutputValue></member>
      ${settings ? `<member><Description>d</Description><OutputKey>DeployedSettings</OutputKey><OutputValue>${escaped(JSON.stringify(settings))}</OutputValue></member>` : ''}
    </Outputs><Tags/></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
});

const server = await serve(async (request, response) => {
  const { status, body } = answer(await text(request));
  response.writeHead(status).end(body);
});
beforeEach(() => {
  stacks = {};
  identity = {
    status: 200,
    body: '<GetCallerIdentityResponse><Account>123456789012</Account></GetCallerIdentityResponse>',
  };
});

const root = resolve(import.meta.dirname, '../../..');

const run = (...args: string[]): Promise<{ code: number; output: string }> =>
  new Promise((done) => {
    const env = {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      AWS_ENDPOINT_URL: server.url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    // An image of its own needs no Docker.
    const program = [join(root, 'functions/clients/cli/stepform.mjs'), 'deploy', '-c', 'runnerImage=example.com/node'];
    execFile(process.execPath, [...program, ...args], { env }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });

it('deploy keeps the settings of the deployed platform, and prints what changes', async () => {
  stacks.Stepform = stack({
    runnerImage: 'example.com/node',
    signInIssuer: 'https://id.example.com/?a=1&b=2',
    signInClientId: 'a',
    readySeconds: 60,
  });
  const { code, output } = await run('--check', '-c', 'readySeconds=30', '-c', 'removalPolicy=destroy');
  expect(output).toBe(`Settings:
  kept     runnerImage     example.com/node
  kept     signInClientId  a
  kept     signInIssuer    https://id.example.com/?a=1&b=2
  changed  readySeconds    60 → 30
  changed  removalPolicy   default → "destroy"
Stack Stepform, account 123456789012, region eu-central-1: ready to deploy.
`);
  expect(code).toBe(0);
});

it('deploy without a terminal refuses sensitive changes without --yes, before it starts the CDK', async () => {
  stacks.Second = stack({ runnerImage: 'example.com/node' });
  const { code, output } = await run(
    '-c',
    'stackName=Second',
    '-c',
    'removalPolicy=retain',
    '-c',
    'environmentDebug=true',
  );
  expect(output).toContain('affect security, existing data or addresses: environmentDebug. Confirm with --yes.');
  expect([code, output]).toEqual([1, expect.not.stringContaining('Synthesis')]);
});

it.each([
  ['of a later version', 99, 'writes data of format 99, which this version (format '],
  ['of an earlier version', dataFormat - 1, `has data of format ${dataFormat - 1}, which this version (format `],
])('deploy refuses a version that would misread the data %s', async (_, format, reason) => {
  stacks.Stepform = stack({}, 'UPDATE_COMPLETE', format);
  const { code, output } = await run('--check');
  expect([code, output]).toEqual([1, expect.stringContaining(reason)]);
});

it('deploy takes the settings of the data after the platform was deleted', async () => {
  stacks['Stepform-Data'] = stack({ runnerImage: 'example.com/node', runRetentionDays: 365 });
  expect((await run('--check')).output).toMatch(/kept +runRetentionDays +365/);
});

it('deploy starts a new platform after a creation that failed', async () => {
  stacks.Stepform = stack(undefined, 'ROLLBACK_COMPLETE');
  const { output } = await run();
  expect(output).toContain('Settings of a new platform:\n  new  runnerImage  example.com/node');
  expect(output).toContain('There is no platform of this name yet: this creates one. Confirm with --yes.');
});

it('deploy refuses when it cannot read the settings of an existing stack', async () => {
  stacks.Stepform = {
    status: 403,
    body: '<ErrorResponse><Error><Code>AccessDenied</Code><Message>User is not authorized</Message></Error></ErrorResponse>',
  };
  const denied = await run('--check');
  expect([denied.code, denied.output]).toEqual([1, expect.stringContaining('cannot be read (User is not authorized)')]);
  stacks.Stepform = stack(undefined);
  const foreign = await run('--check');
  expect([foreign.code, foreign.output]).toEqual([1, expect.stringContaining('has no output DeployedSettings')]);
});
