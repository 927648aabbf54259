import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '#infra/local/aws/step-functions/clock.ts';
import { Bench, machine, task, waiting } from './step-functions.support.ts';

const days = 24 * 3600;

describe('a task’s timeout', () => {
  test('ends the wait for a token with States.Timeout, which States.TaskFailed does not match', async () => {
    const bench = new Bench(
      machine({
        Wait: waiting('Wait', {
          TimeoutSeconds: 60 * days,
          Catch: [
            { ErrorEquals: ['States.TaskFailed'], Next: 'Wrong' },
            { ErrorEquals: ['States.HeartbeatTimeout'], Next: 'Wrong' },
            { ErrorEquals: ['States.Timeout'], ResultPath: '$.error', Next: 'Caught' },
          ],
          End: true,
        }),
        Caught: { Type: 'Succeed' },
        Wrong: { Type: 'Fail' },
      }),
    );
    await bench.start();
    const token = await bench.token();
    await bench.clock.pass(60 * days - 1);
    expect((await bench.describe()).status).toBe('RUNNING');
    await bench.clock.pass(1);
    await bench.ended();
    expect(await bench.output()).toEqual({ error: { Error: 'States.Timeout', Cause: '' } });
    expect(await bench.refused('SendTaskSuccess', { taskToken: token, output: '{}' })).toBe('TaskTimedOut');
  });

  test("can come from the state's input, not from its parameters", async () => {
    const bench = new Bench(machine({ Wait: waiting('Wait', { TimeoutSecondsPath: '$.seconds', End: true }) }));
    await bench.start('run-1', { seconds: 30 });
    await bench.called();
    await bench.clock.pass(29);
    expect((await bench.describe()).status).toBe('RUNNING');
    await bench.clock.pass(1);
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect((await bench.ended()).cause).toBeUndefined();
  });

  test.each([0, -1, 1.5, 'soon', null])('of %j fails with States.Runtime', async (seconds) => {
    const bench = new Bench(machine({ Wait: waiting('Wait', { TimeoutSecondsPath: '$.seconds', End: true }) }));
    await bench.start('run-1', { seconds });
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });

  test('ends a hanging function and ignores its late response', async () => {
    let answer = (_: string) => {};
    const bench = new Bench(
      machine({ Call: task('Call', { TimeoutSeconds: 5, End: true }) }),
      () => new Promise((resolve) => (answer = resolve)),
    );
    await bench.start();
    await bench.called();
    await bench.clock.pass(5);
    answer('late');
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect((await bench.types()).slice(-2)).toEqual(['TaskTimedOut', 'ExecutionFailed']);
  });

  test('is unlimited by default', async () => {
    const bench = new Bench(machine({ Wait: waiting('Wait') }));
    await bench.start();
    const token = await bench.token();
    await bench.clock.pass(300 * days);
    await bench.succeed(token);
    expect((await bench.ended()).status).toBe('SUCCEEDED');
  });
});

describe('heartbeats', () => {
  const beating = (more: object = {}) =>
    machine({
      Work: waiting('Work', { HeartbeatSeconds: 60, TimeoutSeconds: 200, End: true, ...more }),
      Caught: { Type: 'Succeed' },
    });

  test('keep a task alive, until its timeout', async () => {
    const bench = new Bench(beating());
    await bench.start();
    const taskToken = await bench.token();
    for (let beat = 0; beat < 3; beat++) {
      await bench.clock.pass(59);
      await bench.call('SendTaskHeartbeat', { taskToken });
    }
    await bench.clock.pass(22);
    expect((await bench.describe()).status).toBe('RUNNING');
    await bench.clock.pass(1);
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
    expect(await bench.refused('SendTaskHeartbeat', { taskToken })).toBe('TaskTimedOut');
  });

  test.each(['States.HeartbeatTimeout', 'States.Timeout', 'States.ALL'])(
    'that are missing are caught as %s',
    async (name) => {
      const bench = new Bench(beating({ Catch: [{ ErrorEquals: [name], Next: 'Caught' }] }));
      await bench.start();
      await bench.called();
      await bench.clock.pass(60);
      await bench.ended();
      expect(await bench.output()).toEqual({ Error: 'States.Timeout', Cause: '' });
    },
  );

  test('that are missing can be retried with a new token', async () => {
    const bench = new Bench(beating({ Retry: [{ ErrorEquals: ['States.HeartbeatTimeout'], IntervalSeconds: 1 }] }));
    await bench.start();
    const first = await bench.token(1);
    await bench.clock.pass(61);
    const second = await bench.token(2);
    expect(await bench.refused('SendTaskHeartbeat', { taskToken: first })).toBe('TaskTimedOut');
    await bench.succeed(second);
    expect((await bench.ended()).status).toBe('SUCCEEDED');
  });
});

describe('the machine’s timeout', () => {
  test('ends the execution as TIMED_OUT without error or cause', async () => {
    const bench = new Bench(
      machine(
        {
          Wait: waiting('Wait', { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Caught' }], End: true }),
          Caught: { Type: 'Succeed' },
        },
        { TimeoutSeconds: 100 },
      ),
    );
    await bench.start();
    const taskToken = await bench.token();
    await bench.clock.pass(100);
    const ended = await bench.ended();
    expect(ended.status).toBe('TIMED_OUT');
    expect(ended).not.toHaveProperty('error');
    expect(ended).not.toHaveProperty('cause');
    expect(ended.stopDate - ended.startDate).toBe(100_000);
    expect((await bench.history()).at(-1)).toMatchObject({
      type: 'ExecutionTimedOut',
      previousEventId: 0,
      executionTimedOutEventDetails: { error: 'States.Timeout' },
    });
    expect(bench.events.at(-1)!.detail).toMatchObject({ status: 'TIMED_OUT', error: null, cause: null });
    expect(await bench.refused('SendTaskHeartbeat', { taskToken })).toBe('TaskTimedOut');
    expect(bench.clock.armed).toBe(0);
  });
});

describe('the system clock', () => {
  test('waits longer than setTimeout can', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    try {
      const fired: number[] = [];
      const start = Date.now();
      systemClock.after(90 * days * 1000, () => fired.push(Date.now() - start));
      const callOff = systemClock.after(80 * days * 1000, () => fired.push(-1));
      await vi.advanceTimersByTimeAsync(60 * days * 1000);
      callOff();
      await vi.advanceTimersByTimeAsync(29.9 * days * 1000);
      expect(fired).toEqual([]);
      await vi.advanceTimersByTimeAsync(0.2 * days * 1000);
      expect(fired).toEqual([90 * days * 1000]);
    } finally {
      vi.useRealTimers();
    }
  });
});
