import { expect, test } from 'vitest';
import { orderOf } from '#run/attempts.ts';
import { Bench, machine, restart, throwing, waiting } from './step-functions.support.ts';

/** A clock that is set back by hours, e.g. synchronized after a start with a wrong time. */

const hours = 3600;
const attempt = { 'entered.$': '$$.State.EnteredTime', 'attempt.$': '$$.State.RetryCount' };
const withAttempt = (name: string, more: object) => {
  const state = waiting(name, more);
  return { ...state, Parameters: { ...state.Parameters, Payload: { ...state.Parameters.Payload, ...attempt } } };
};
const definition = machine({
  First: withAttempt('First', { TimeoutSeconds: 60, Next: 'Second' }),
  Second: withAttempt('Second', { TimeoutSeconds: 60, Next: 'Third' }),
  Third: withAttempt('Third', { TimeoutSeconds: 60, End: true }),
});
const orders = ({ calls }: Bench) =>
  calls.map(({ payload }) => orderOf(payload as unknown as { token: string; entered: string; attempt: number }) ?? '');

test('each state is entered after the one before, also when the clock is set back while one waits', async () => {
  const bench = new Bench(definition);
  await bench.start();
  await bench.clock.pass(1);
  for (const count of [1, 2, 3]) {
    const token = await bench.token(count);
    bench.clock.setBack(5 * hours);
    await bench.succeed(token);
  }
  expect((await bench.ended()).status).toBe('SUCCEEDED');
  expect(orders(bench)).toEqual([...orders(bench)].sort());
  expect(new Set(orders(bench)).size).toBe(3);
  const times = (await bench.history()).map(({ timestamp }) => Number(timestamp));
  expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('a state is entered after the retries of the one before', async () => {
  const retried = { Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 3 }] };
  const bench = new Bench(
    machine({
      First: withAttempt('First', { ...retried, Next: 'Second' }),
      Second: withAttempt('Second', { End: true }),
    }),
    (_, count) => (count === 1 ? throwing('Broken')() : null),
  );
  await bench.start();
  await bench.called();
  await bench.clock.pass(1);
  bench.clock.setBack(1);
  await bench.succeed(await bench.token(2));
  await bench.called(3);
  expect(orders(bench)).toEqual([...orders(bench)].sort());
});

test('a timeout keeps its length, also after a restart with the clock set back', async () => {
  const bench = new Bench(definition);
  await bench.start();
  await bench.called();
  await bench.clock.pass(30);
  bench.clock.setBack(5 * hours);
  await bench.clock.pass(29);
  expect((await bench.describe()).status).toBe('RUNNING');
  await bench.clock.pass(1);
  expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });

  const other = new Bench(definition);
  await other.start();
  await other.succeed(await other.token());
  await other.token(2);
  other.clock.setBack(5 * hours);
  const after = restart(other, definition);
  await after.service.resume();
  await after.clock.pass(61);
  expect(await after.ended()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });
});
