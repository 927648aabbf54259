import { describe, expect, test } from 'vitest';
import { Bench, countJournals, killed, machine, machineArn, task, until, waiting } from './step-functions.support.ts';

describe('limits', () => {
  const large = 'x'.repeat(262_144);

  test('fail a task whose function returns over 256 KiB', async () => {
    const bench = new Bench(
      machine({
        Call: task('Call', {
          Catch: [{ ErrorEquals: ['States.DataLimitExceeded'], ResultPath: '$.error', Next: 'Caught' }],
          End: true,
        }),
        Caught: { Type: 'Succeed' },
      }),
      () => large,
    );
    await bench.start();
    await bench.ended();
    expect(await bench.output()).toEqual({
      error: {
        Error: 'States.DataLimitExceeded',
        Cause:
          "The state/task 'lambda' returned a result with a size exceeding the maximum number of bytes service limit.",
      },
    });
  });

  test.each([
    ['parameters', { ...task('Call'), Parameters: { FunctionName: 'Call', Payload: { 'a.$': '$', 'b.$': '$' } } }],
    ['a state’s output', { Type: 'Pass', Parameters: { 'a.$': '$', 'b.$': '$' }, End: true }],
  ])('end the execution when %s exceed 256 KiB', async (_, state) => {
    const bench = new Bench(
      machine({
        State: { ...state, ...('Resource' in state && { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }] }) },
        Caught: { Type: 'Succeed' },
      }),
    );
    await bench.start('run-1', 'y'.repeat(200_000));
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
    expect(bench.calls).toEqual([]);
  });

  test('reject a task output over 256 KiB', async () => {
    const bench = new Bench(machine({ Wait: waiting('Wait') }));
    await bench.start();
    const taskToken = await bench.token();
    expect(await bench.refused('SendTaskSuccess', { taskToken, output: JSON.stringify(large) })).toBe(
      'ValidationException',
    );
    expect(await bench.refused('SendTaskFailure', { taskToken, error: 'x'.repeat(257) })).toBe('ValidationException');
    await bench.succeed(taskToken, 'x'.repeat(262_142));
    expect((await bench.ended()).status).toBe('SUCCEEDED');
  });

  test('fail the execution at history event 25,000', async () => {
    const bench = new Bench(
      machine({
        Loop: { Type: 'Choice', Choices: [{ Variable: '$.go', StringEquals: 'on', Next: 'Loop' }], Default: 'Loop' },
      }),
    );
    await bench.start('run-1', { go: 'on' });
    const ended = await bench.ended();
    expect(ended).toMatchObject({
      status: 'FAILED',
      error: 'States.Runtime',
      cause: 'The execution reached the maximum number of history events (25000).',
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: 'Execution history event limit exceeded',
    });
    const { events } = await bench.call('GetExecutionHistory', {
      executionArn: ended.executionArn,
      reverseOrder: true,
      maxResults: 2,
    });
    expect(events).toMatchObject([
      { type: 'ExecutionFailed', id: 25_000, previousEventId: 24_999 },
      { type: 'ChoiceStateExited', id: 24_999, previousEventId: 24_998 },
    ]);
  });

  test('fail an execution with a full history also on a task response', async () => {
    const bench = new Bench(
      machine({
        Loop: waiting('Loop', { ResultPath: null, Next: 'Loop' }),
      }),
      ({ payload }) => {
        queueMicrotask(
          () => void bench.call('SendTaskSuccess', { taskToken: payload.token!, output: '{}' }).catch(() => {}),
        );
      },
    );
    await bench.start();
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
    expect((await bench.describe()).stopDate).toEqual(new Date(bench.clock.now()));
  });
});

describe('many executions', () => {
  const run = machine({
    Plan: waiting('Plan', { ResultPath: '$.plan', TimeoutSeconds: 3600, HeartbeatSeconds: 60, Next: 'Check' }),
    Check: {
      Type: 'Choice',
      Choices: [{ Variable: '$.plan.ok', StringEquals: 'yes', Next: 'Apply' }],
      Default: 'Apply',
    },
    Apply: task('Apply', { ResultPath: null, End: true }),
  });

  test('complete when 1,000 start at once, also across a restart', async () => {
    const bench = new Bench(run);
    const names = Array.from({ length: 1000 }, (_, index) => `run-${index}`);
    await Promise.all(names.map((name) => bench.start(name, { name })));
    await bench.called(1000);
    const second = new Bench(run, undefined, { dataDir: killed(bench.dataDir), clock: bench.clock });
    expect(await second.service.resume()).toEqual({ resumed: 1000 });
    expect(second.calls).toEqual([]);
    await Promise.all(bench.calls.map(({ payload }) => second.succeed(payload.token!, { ok: true })));
    await until(() => second.events.length === 1000);
    expect(second.events.every(({ detail }) => detail.status === 'SUCCEEDED')).toBe(true);
    expect(new Set(second.calls.map(({ executionName }) => executionName)).size).toBe(1000);
    expect(countJournals(second)).toBe(1000);
    const { executions } = await second.call('ListExecutions', {
      stateMachineArn: machineArn,
      statusFilter: 'RUNNING',
    });
    expect(executions).toEqual([]);
  });
});
