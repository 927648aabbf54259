import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionNotRedrivable,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  RedriveExecutionCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inJson } from '#infra/local/host/answers.ts';
import { serve } from '#test/support/serve.ts';
import { Bench, executionArn, machine, machineArn, task, waiting } from './step-functions.support.ts';

const waits = machine({ Wait: waiting('Wait') });
const passes = machine({ Pass: { Type: 'Pass', End: true } });

describe('StartExecution', () => {
  test('returns the running execution for the same name and input', async () => {
    const bench = new Bench(waits);
    const first = await bench.start('run-1', { a: 1 });
    await bench.clock.pass(10);
    expect(await bench.start('run-1', { a: 1 })).toEqual(first);
    expect(first).toEqual({ executionArn: executionArn('run-1'), startDate: new Date('2030-01-01') });
    expect(bench.calls).toHaveLength(1);
  });

  test('rejects a name in use with another input or after the execution has ended', async () => {
    const bench = new Bench(waits);
    await bench.start('run-1', { a: 1 });
    const again = (input: string) =>
      bench.refused('StartExecution', { stateMachineArn: machineArn, name: 'run-1', input });
    expect(await again('{"a":2}')).toBe('ExecutionAlreadyExists');
    await bench.succeed(await bench.token());
    await bench.ended();
    expect(await again('{"a":1}')).toBe('ExecutionAlreadyExists');
  });

  test('generates a name, and defaults the input to {}', async () => {
    const bench = new Bench(passes);
    const { executionArn: arn } = await bench.call('StartExecution', { stateMachineArn: machineArn });
    const name = arn.split(':').at(-1);
    await bench.ended(name);
    expect(await bench.output(name)).toEqual({});
  });

  test.each([
    [{ name: 'x'.repeat(81) }, 'ValidationException'],
    [{ name: 'a b' }, 'InvalidName'],
    [{ name: 'a/b' }, 'InvalidName'],
    [{ name: '' }, 'InvalidName'],
    [{ name: 7 }, 'SerializationException'],
    [{ input: 'no json' }, 'InvalidExecutionInput'],
    [{ input: '' }, 'InvalidExecutionInput'],
    [{ input: JSON.stringify('ä'.repeat(131_072)) }, 'ValidationException'],
    [{ stateMachineArn: 'Runs' }, 'InvalidArn'],
    [{ stateMachineArn: `${machineArn}X` }, 'StateMachineDoesNotExist'],
    [{ stateMachineArn: undefined }, 'ValidationException'],
  ])('rejects %j', async (input, code) => {
    const bench = new Bench(passes);
    expect(await bench.refused('StartExecution', { stateMachineArn: machineArn, ...input })).toBe(code);
    expect(bench.events).toEqual([]);
  });

  test('accepts any letter and is case-sensitive', async () => {
    const bench = new Bench(passes);
    for (const name of ['Läufer', 'läufer', '走', 'x'.repeat(80), '..']) {
      await bench.start(name, { name });
      await bench.ended(name);
      expect(await bench.output(name)).toEqual({ name });
    }
  });
});

describe('StopExecution', () => {
  test("aborts with error and cause, and rejects the worker's next call", async () => {
    const bench = new Bench(waits);
    await bench.start();
    const taskToken = await bench.token();
    await bench.clock.pass(5);
    const { stopDate } = await bench.call('StopExecution', {
      executionArn: executionArn('run-1'),
      error: 'Canceled',
      cause: 'by hand',
    });
    expect(stopDate).toEqual(new Date('2030-01-01T00:00:05Z'));
    expect(await bench.describe()).toMatchObject({ status: 'ABORTED', error: 'Canceled', cause: 'by hand', stopDate });
    expect(bench.calls).toHaveLength(1);
    expect(await bench.refused('SendTaskHeartbeat', { taskToken })).toBe('TaskTimedOut');
    expect((await bench.history()).at(-1)).toMatchObject({
      type: 'ExecutionAborted',
      previousEventId: 0,
      executionAbortedEventDetails: { error: 'Canceled', cause: 'by hand' },
    });
    await bench.clock.pass(5);
    expect(await bench.call('StopExecution', { executionArn: executionArn('run-1') })).toEqual({ stopDate });
  });

  test('ignores the response of a call in progress', async () => {
    let answer = (_: unknown) => {};
    const bench = new Bench(
      machine({ Call: task('Call', { Next: 'Then' }), Then: task('Then') }),
      () => new Promise((resolve) => (answer = resolve)),
    );
    await bench.start();
    await bench.called();
    await bench.call('StopExecution', { executionArn: executionArn('run-1') });
    answer('late');
    await bench.clock.pass(1);
    expect(bench.calls).toHaveLength(1);
    const described = await bench.describe();
    expect(described.status).toBe('ABORTED');
    expect(described).not.toHaveProperty('error');
    expect((await bench.types()).at(-1)).toBe('ExecutionAborted');
  });
});

describe('status changes', () => {
  test('have the format of EventBridge', async () => {
    const bench = new Bench(machine({ Call: task('Call', { ResultPath: null, End: true }) }));
    await bench.start('run-1', { runId: 1 });
    await bench.ended();
    const started = Date.parse('2030-01-01');
    const common = {
      executionArn: executionArn('run-1'),
      stateMachineArn: machineArn,
      name: 'run-1',
      startDate: started,
      input: '{"runId":1}',
      inputDetails: { included: true },
      stateMachineVersionArn: null,
      stateMachineAliasArn: null,
      redriveCount: 0,
      redriveDate: null,
      redriveStatus: 'NOT_REDRIVABLE',
      error: null,
      cause: null,
    };
    expect(bench.events).toEqual(
      [
        { status: 'RUNNING', stopDate: null, output: null, outputDetails: null },
        { status: 'SUCCEEDED', stopDate: started, output: '{"runId":1}', outputDetails: { included: true } },
      ].map((own) => ({
        version: '0',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        'detail-type': 'Step Functions Execution Status Change',
        source: 'aws.states',
        account: '000000000000',
        time: '2030-01-01T00:00:00Z',
        region: 'us-east-1',
        resources: [executionArn('run-1')],
        detail: { ...common, ...own, redriveStatusReason: `Execution is ${own.status} and cannot be redriven` },
      })),
    );
  });
});

describe('lists', () => {
  test('show executions newest first, filtered and in pages', async () => {
    const bench = new Bench(waits);
    for (const name of ['run-1', 'run-2', 'run-3']) {
      await bench.start(name);
      await bench.clock.pass(1);
    }
    await bench.succeed(await bench.token(2));
    await bench.ended('run-2');
    const list = async (input: object = {}) => {
      const { executions, nextToken } = await bench.call('ListExecutions', { stateMachineArn: machineArn, ...input });
      return { names: executions.map(({ name }: { name: string }) => name), nextToken };
    };
    expect((await list()).names).toEqual(['run-3', 'run-2', 'run-1']);
    expect((await list({ statusFilter: 'RUNNING' })).names).toEqual(['run-3', 'run-1']);
    const first = await list({ maxResults: 2 });
    expect(first.names).toEqual(['run-3', 'run-2']);
    expect(await list({ maxResults: 2, nextToken: first.nextToken })).toEqual({
      names: ['run-1'],
      nextToken: undefined,
    });
    expect(await bench.refused('ListExecutions', { stateMachineArn: machineArn, statusFilter: 'running' })).toBe(
      'ValidationException',
    );
  });

  test('show machines', async () => {
    const bench = new Bench(waits);
    const { stateMachines } = await bench.call('ListStateMachines', {});
    expect(stateMachines).toEqual([
      { stateMachineArn: machineArn, name: 'Runs', type: 'STANDARD', creationDate: new Date(bench.clock.now()) },
    ]);
    const described = await bench.call('AWSStepFunctions.DescribeStateMachine', { stateMachineArn: machineArn });
    expect(described).toMatchObject({ status: 'ACTIVE', type: 'STANDARD' });
    expect(JSON.parse(described.definition)).toEqual(waits);
  });

  test('reject unknown actions', async () => {
    const bench = new Bench(waits);
    for (const action of ['CreateActivity', 'constructor', '']) {
      expect(await bench.refused(action, {})).toBe('UnknownOperationException');
    }
  });
});

/** The service behind HTTP, as the platform's endpoint has it. */
const clientOf = async (bench: Bench): Promise<SFNClient> => {
  const server = await serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const answer = await bench.service
      .handle(String(request.headers['x-amz-target']), JSON.parse(body))
      .catch((error: Error) => {
        response.statusCode = 400;
        return { __type: error.name, message: error.message };
      });
    response.setHeader('content-type', 'application/x-amz-json-1.0');
    response.end(inJson(answer));
  });
  const client = new SFNClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return client;
};

test('the service works with the AWS SDK', async () => {
  const bench = new Bench(waits);
  const client = await clientOf(bench);
  const started = await client.send(
    new StartExecutionCommand({ stateMachineArn: machineArn, name: 'run-1', input: '{}' }),
  );
  expect(started.startDate).toEqual(new Date('2030-01-01'));
  const other = new StartExecutionCommand({ stateMachineArn: machineArn, name: 'run-1', input: '[]' });
  await expect(client.send(other)).rejects.toBeInstanceOf(ExecutionAlreadyExists);
  const done = new SendTaskSuccessCommand({ taskToken: await bench.token(), output: '{}' });
  await client.send(done);
  await expect(client.send(done)).rejects.toBeInstanceOf(TaskTimedOut);
  await bench.ended();
  const { executionArn: arn } = started;
  const described = await client.send(new DescribeExecutionCommand({ executionArn: arn }));
  expect(described).toMatchObject({ status: 'SUCCEEDED', stopDate: new Date('2030-01-01'), output: '{}' });
  const { events } = await client.send(new GetExecutionHistoryCommand({ executionArn: arn }));
  expect(events![0]!.timestamp).toEqual(new Date('2030-01-01'));
  const { executions } = await client.send(new ListExecutionsCommand({ stateMachineArn: machineArn }));
  expect(executions).toHaveLength(1);
  expect((await client.send(new StopExecutionCommand({ executionArn: arn }))).stopDate).toEqual(new Date('2030-01-01'));
  await expect(client.send(new RedriveExecutionCommand({ executionArn: arn }))).rejects.toBeInstanceOf(
    ExecutionNotRedrivable,
  );
});
