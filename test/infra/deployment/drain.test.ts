import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, it } from 'vitest';
import type { Drained } from '#lifecycle/drain/handler.ts';
import { serve } from '#test/support/serve.ts';

/** `stepform drain` of a platform on AWS, against the responses of CloudFormation and Lambda. */

let outputs: Record<string, string>;
/** Responses of the function, in order. */
let answers: (Drained | { errorMessage: string })[];
let invocations: { path: string | undefined; input: unknown }[];

const stack = () =>
  `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${Object.entries(outputs)
    .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
    .join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;

const server = await serve(async (request, response) => {
  const body = await text(request);
  if (body.includes('Action=DescribeStacks')) return response.end(stack());
  invocations.push({ path: request.url, input: JSON.parse(body) });
  response.end(JSON.stringify(answers.shift()));
});
beforeEach(() => {
  outputs = { ApiUrl: 'https://a.example.com', DrainFunctionName: 'Stepform-DrainFunction-1' };
  answers = [];
  invocations = [];
});

const root = resolve(import.meta.dirname, '../../..');
const run = (...args: string[]): Promise<{ code: number; output: string }> =>
  new Promise((done) => {
    const env = {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      STEPFORM_DATA: join(tmpdir(), 'no-platform-here'),
      AWS_ENDPOINT_URL: server.url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    const program = [join(root, 'functions/clients/cli/stepform.mjs'), 'drain', ...args];
    execFile(process.execPath, program, { env }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });

const drain = { reason: 'maintenance', since: '2026-02-03T04:05:06.789Z' };
const open = {
  id: 'run-1',
  organization: 'acme',
  workspace: 'network',
  status: 'applying' as const,
  waitsFor: 'runner',
  createdAt: drain.since,
};

it('waits until the function reports that no run is left', async () => {
  answers = [
    { drain, runs: [open], done: false },
    { drain, runs: [], done: true },
  ];
  const { code, output } = await run();
  expect(output).toContain('Stepform in eu-central-1 creates no runs: maintenance');
  expect(output).toMatch(/run-1 +acme\/network +applying/);
  expect([code, output]).toEqual([0, expect.stringContaining('Drained: no run is in progress')]);
  expect(invocations).toEqual([
    {
      path: '/2015-03-31/functions/Stepform-DrainFunction-1/invocations',
      input: { action: 'start', reason: 'maintenance' },
    },
    { path: '/2015-03-31/functions/Stepform-DrainFunction-1/invocations', input: { action: 'status' } },
  ]);
});

it('fails if another operator ends the drain meanwhile', async () => {
  answers = [
    { drain, runs: [open], done: false },
    { runs: [open], done: false },
  ];
  expect(await run()).toEqual({ code: 1, output: expect.stringContaining('The drain was ended meanwhile') });
});

it('reports a deployment that has no such function', async () => {
  outputs = { ApiUrl: 'https://a.example.com' };
  const { code, output } = await run('--resume', '--stack', 'Other');
  expect([code, output]).toEqual([
    1,
    expect.stringContaining('Stack Other in eu-central-1 has no output DrainFunctionName'),
  ]);
  expect(invocations).toEqual([]);
});

it('prints the error of the function', async () => {
  answers = [{ errorMessage: 'Send {"action": "start"}' }];
  expect(await run('--reason', 'x')).toEqual({ code: 1, output: expect.stringContaining('Send {"action": "start"}') });
});
