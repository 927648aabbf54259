import { describe, expect, test } from 'vitest';
import { Bench, machine, task, throwing, until, waiting } from './step-functions.support.ts';

describe('errors', () => {
  test('of SendTaskFailure are caught by name', async () => {
    const bench = new Bench(
      machine({
        Wait: waiting('Wait', {
          Catch: [
            { ErrorEquals: ['Canceled'], ResultPath: '$.error', Next: 'Canceled' },
            { ErrorEquals: ['States.ALL'], Next: 'Errored' },
          ],
          End: true,
        }),
        Canceled: { Type: 'Succeed' },
        Errored: { Type: 'Fail', Error: 'wrong way' },
      }),
    );
    await bench.start('run-1', { runId: 1 });
    await bench.fail(await bench.token(), 'Canceled', 'by a person');
    await bench.ended();
    expect(await bench.output()).toEqual({ runId: 1, error: { Error: 'Canceled', Cause: 'by a person' } });
  });

  test('without a name have null fields in a Catch', async () => {
    const bench = new Bench(
      machine({
        Wait: waiting('Wait', { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], End: true }),
        Caught: { Type: 'Succeed' },
      }),
    );
    await bench.start();
    await bench.call('SendTaskFailure', { taskToken: await bench.token() });
    await bench.ended();
    expect(await bench.output()).toEqual({ Error: null, Cause: null });
  });

  test("of functions have Lambda's error format", async () => {
    const bench = new Bench(machine({ Call: task('Call') }), throwing('QuotaError', 'no more'));
    await bench.start();
    const { status, error, cause } = await bench.ended();
    expect([status, error]).toEqual(['FAILED', 'QuotaError']);
    expect(JSON.parse(cause)).toMatchObject({ errorType: 'QuotaError', errorMessage: 'no more' });
  });

  test('of Lambda itself have a plain-text cause', async () => {
    const bench = new Bench(machine({ Call: task('Call') }), throwing('Lambda.TooManyRequestsException', 'slow down'));
    await bench.start();
    expect(await bench.ended()).toMatchObject({ error: 'Lambda.TooManyRequestsException', cause: 'slow down' });
  });

  test('of a function with a task token fail the task', async () => {
    const bench = new Bench(
      machine({
        Wait: waiting('Wait', { Catch: [{ ErrorEquals: ['States.TaskFailed'], Next: 'Caught' }], End: true }),
        Caught: { Type: 'Pass', Parameters: { 'error.$': '$.Error' }, End: true },
      }),
      throwing('StoreError'),
    );
    await bench.start();
    const token = await bench.token();
    await bench.ended();
    expect(await bench.output()).toEqual({ error: 'StoreError' });
    expect(await bench.refused('SendTaskSuccess', { taskToken: token, output: '{}' })).toBe('TaskTimedOut');
  });

  test('are retried with backoff by the first matching Retry', async () => {
    const bench = new Bench(
      machine({
        Call: task('Call', {
          Retry: [
            { ErrorEquals: ['Fatal'], MaxAttempts: 0 },
            { ErrorEquals: ['Slow'], IntervalSeconds: 2, BackoffRate: 3, MaxDelaySeconds: 10, MaxAttempts: 3 },
            { ErrorEquals: ['States.ALL'], IntervalSeconds: 1 },
          ],
          End: true,
        }),
      }),
      (_, count) => throwing(count <= 4 ? 'Slow' : 'Fatal')(),
    );
    await bench.start();
    const at: number[] = [];
    for (let count = 1; count <= 4; count++) {
      await bench.called(count);
      at.push(bench.clock.now());
      while (bench.calls.length === count && bench.events.length < 2) await bench.clock.pass(1);
    }
    expect(at.map((time) => (time - at[0]!) / 1000)).toEqual([0, 2, 8, 18]);
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'Slow' });
    expect(bench.calls).toHaveLength(4);
  });

  test('in paths end the execution despite a Catch', async () => {
    const bench = new Bench(
      machine({
        Call: {
          ...task('Call', { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], End: true }),
          Parameters: { FunctionName: 'Call', Payload: { 'x.$': '$.missing' } },
        },
        Caught: { Type: 'Succeed' },
      }),
    );
    await bench.start();
    const { status, error, cause } = await bench.ended();
    expect([status, error]).toEqual(['FAILED', 'States.Runtime']);
    expect(cause).toContain("An error occurred while executing the state 'Call' (entered at the event id #2).");
    expect(cause).toContain('$.missing');
  });

  test("of a Fail state become the execution's error", async () => {
    const bench = new Bench(machine({ Fail: { Type: 'Fail', Error: 'Planned', Cause: 'said so' } }));
    await bench.start();
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'Planned', cause: 'said so' });
  });

  test("in the service's listener do not affect the execution", async () => {
    const bench = new Bench(machine({ Pass: { Type: 'Pass', End: true } }));
    bench.events.push = () => {
      throw new Error('a listener that breaks');
    };
    const silent = console.error;
    console.error = () => {};
    try {
      await bench.start();
      let status = '';
      await until(() => {
        void bench.describe().then((it) => {
          status = it.status;
        });
        return status === 'SUCCEEDED';
      });
    } finally {
      console.error = silent;
    }
  });
});
