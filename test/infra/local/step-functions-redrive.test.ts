import { describe, expect, test } from 'vitest';
import { Bench, executionArn, machine, task, throwing, waiting } from './step-functions.support.ts';

describe('RedriveExecution', () => {
  const two = machine(
    {
      First: task('First', { ResultPath: '$.first', Next: 'Second' }),
      Second: task('Second', { ResultPath: '$.second', End: true }),
    },
    { TimeoutSeconds: 100 },
  );
  const redrive = (bench: Bench, more: object = {}) =>
    bench.call('RedriveExecution', { executionArn: executionArn('run-1'), ...more });

  test('continues from the failed state with its input', async () => {
    let broken = true;
    const bench = new Bench(two, ({ stateName }) =>
      stateName === 'Second' && broken ? throwing('Broken')() : stateName,
    );
    await bench.start('run-1', { runId: 1 });
    const failed = await bench.ended();
    expect(failed).toMatchObject({ status: 'FAILED', redriveStatus: 'REDRIVABLE', redriveCount: 0 });

    broken = false;
    await bench.clock.pass(3600);
    const { redriveDate } = await redrive(bench);
    await bench.clock.pass(0);

    expect(redriveDate).toEqual(new Date('2030-01-01T01:00:00Z'));
    expect(await bench.describe()).toMatchObject({
      executionArn: failed.executionArn,
      status: 'SUCCEEDED',
      startDate: failed.startDate,
      redriveCount: 1,
      redriveDate,
    });
    expect(await bench.output()).toEqual({ runId: 1, first: { answer: 'First' }, second: { answer: 'Second' } });
    expect(bench.calls.map(({ stateName }) => stateName)).toEqual(['First', 'Second', 'Second']);
    expect(bench.calls[2]!.payload).toEqual(bench.calls[1]!.payload);
    expect((await bench.types()).slice(-8)).toEqual([
      'TaskFailed',
      'ExecutionFailed',
      'ExecutionRedriven',
      'TaskScheduled',
      'TaskStarted',
      'TaskSucceeded',
      'TaskStateExited',
      'ExecutionSucceeded',
    ]);
    expect(bench.events.map(({ detail }) => [detail.status, detail.redriveCount])).toEqual([
      ['RUNNING', 0],
      ['FAILED', 0],
      ['RUNNING', 1],
      ['SUCCEEDED', 1],
    ]);
    expect(bench.service.transitions('run-1')).toBe(3);
  });

  test("issues a new token after an abort and restarts the machine's timeout", async () => {
    const bench = new Bench(machine({ Wait: waiting('Wait') }, { TimeoutSeconds: 100 }));
    await bench.start();
    const first = await bench.token(1);
    await bench.call('StopExecution', { executionArn: executionArn('run-1') });
    await bench.clock.pass(1000);
    await redrive(bench);
    const second = await bench.token(2);
    expect(await bench.refused('SendTaskSuccess', { taskToken: first, output: '{}' })).toBe('TaskTimedOut');
    await bench.clock.pass(99);
    expect((await bench.describe()).status).toBe('RUNNING');
    await bench.clock.pass(1);
    expect((await bench.describe()).status).toBe('TIMED_OUT');
    await redrive(bench);
    const third = await bench.token(3);
    expect(new Set([first, second, third]).size).toBe(3);
    await bench.succeed(third);
    await bench.clock.pass(0);
    expect(await bench.describe()).toMatchObject({ status: 'SUCCEEDED', redriveCount: 2 });
  });

  test('resets the retries', async () => {
    const retry = [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 1 }];
    const bench = new Bench(machine({ Call: task('Call', { Retry: retry, End: true }) }), throwing('Broken'));
    await bench.start();
    await bench.called();
    await bench.clock.pass(1);
    await redrive(bench);
    await bench.clock.pass(1);
    expect(bench.calls).toHaveLength(4);
  });

  test('is idempotent, and rejected for running, succeeded or old executions', async () => {
    let broken = true;
    const bench = new Bench(two, () => broken && throwing('Broken')());
    await bench.start();
    const refused = () => bench.refused('RedriveExecution', { executionArn: executionArn('run-1') });
    expect(await refused()).toBe('ExecutionNotRedrivable');
    await bench.ended();
    await bench.clock.pass(14 * 24 * 3600 + 1);
    expect(await refused()).toBe('ExecutionNotRedrivable');
    expect((await bench.describe()).redriveStatusReason).toBe('Execution redrivable period exceeded');

    await bench.start('run-2');
    await bench.ended('run-2');
    broken = false;
    const again = { executionArn: executionArn('run-2'), clientToken: 'once' };
    const first = await bench.call('RedriveExecution', again);
    expect(await bench.call('RedriveExecution', again)).toEqual(first);
    await bench.clock.pass(0);
    expect(await bench.describe('run-2')).toMatchObject({
      status: 'SUCCEEDED',
      redriveCount: 1,
      redriveStatus: 'NOT_REDRIVABLE',
    });
  });
});
