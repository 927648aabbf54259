import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Bench, killed, machine, restart, task, throwing, waiting } from './step-functions.support.ts';

describe('retries after a restart', () => {
  const retried = machine({
    Call: task('Call', {
      Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 100, BackoffRate: 2, MaxAttempts: 3 }],
      End: true,
    }),
  });

  test('do not repeat past backoffs; a current one continues', async () => {
    const bench = new Bench(retried, throwing('Busy'));
    await bench.start();
    await bench.called(1);
    await bench.clock.pass(100);
    await bench.called(2);
    await bench.clock.pass(150);
    const dataDir = killed(bench.dataDir);
    await bench.service.close();

    const second = new Bench(retried, (_, count) => (count === 1 ? throwing('Busy')() : 'done'), {
      dataDir,
      clock: bench.clock,
    });
    await second.service.resume();
    await bench.clock.pass(49);
    expect(second.calls).toHaveLength(0);
    await bench.clock.pass(1);
    await second.called(1);
    await bench.clock.pass(400);
    expect(await second.ended()).toMatchObject({ status: 'SUCCEEDED' });
    expect(second.service.transitions('run-1')).toBe(4);
  });

  test('do not repeat past backoffs with another jitter', async () => {
    const jittered = machine({
      Wait: waiting('Wait', {
        Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 100, JitterStrategy: 'FULL' }],
        End: true,
      }),
    });
    const chance = vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => chance.mockRestore());
    const bench = new Bench(jittered);
    await bench.start();
    await bench.fail(await bench.token(1), 'Busy');
    const token = await bench.token(2);
    chance.mockReturnValue(0.99);
    const second = restart(bench, jittered);
    await second.succeed(token);
    expect((await second.ended()).status).toBe('SUCCEEDED');
  });

  test('keep their count', async () => {
    const bench = new Bench(retried, throwing('Busy'));
    await bench.start();
    await bench.called(1);
    await bench.clock.pass(300);
    await bench.called(3);
    const dataDir = killed(bench.dataDir);
    await bench.service.close();
    const second = new Bench(retried, throwing('Busy'), { dataDir, clock: bench.clock });
    await second.service.resume();
    await bench.clock.pass(400);
    expect(await second.ended()).toMatchObject({ status: 'FAILED', error: 'Busy' });
    expect(second.calls).toHaveLength(1);
  });

  test("keep the current attempt's token and reject former ones", async () => {
    const definition = machine({ Wait: waiting('Wait', { Retry: [{ ErrorEquals: ['Lost'] }], End: true }) });
    const bench = new Bench(definition);
    await bench.start();
    const first = await bench.token(1);
    await bench.fail(first, 'Lost');
    await bench.clock.pass(1);
    const second = await bench.token(2);
    const restarted = restart(bench, definition);
    expect(await restarted.refused('SendTaskSuccess', { taskToken: first, output: '{}' })).toBe('TaskTimedOut');
    await restarted.succeed(second, 2);
    await restarted.ended();
    expect(await restarted.output()).toBe(2);
  });
});

test('times are not evaluated again after a restart', async () => {
  const definition = machine({
    Dice: { Type: 'Pass', Parameters: { 'at.$': '$$.State.EnteredTime' }, Next: 'Wait' },
    Wait: waiting('Wait', { ResultPath: null, End: true }),
  });
  const bench = new Bench(definition);
  await bench.start();
  const { payload } = await bench.called();
  await bench.clock.pass(5);
  const second = restart(bench, definition);
  await second.succeed(payload.token!);
  await second.ended();
  expect(await second.output()).toEqual(payload.input);
});
