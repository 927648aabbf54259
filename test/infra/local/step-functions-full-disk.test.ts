import { expect, test } from 'vitest';
import { Bench, machine, restart, waiting } from './step-functions.support.ts';

/** The database cannot be written, as on a full disk, until a test makes room again. */

const definition = machine({ First: waiting('First', { Next: 'Second' }), Second: waiting('Second') });

const fill = ({ database }: Bench): void => database.define('PRAGMA query_only = ON');
const free = ({ database }: Bench): void => database.define('PRAGMA query_only = OFF');

test('a task result that cannot be recorded is refused, and accepted when it is sent again', async () => {
  const bench = new Bench(definition);
  await bench.start();
  const token = await bench.token();
  fill(bench);
  expect(await bench.refused('SendTaskSuccess', { taskToken: token, output: '{}' })).toContain('readonly');
  free(bench);
  await bench.succeed(token);
  await bench.succeed(await bench.token(2));
  expect((await bench.ended()).status).toBe('SUCCEEDED');
  expect(bench.calls.map(({ stateName }) => stateName)).toEqual(['First', 'Second']);
});

test('an execution continues by itself when its disk has room again, and after a restart too', async () => {
  const slow = machine({
    First: waiting('First', {
      TimeoutSeconds: 60,
      Catch: [{ ErrorEquals: ['States.Timeout'], Next: 'Second' }],
      End: true,
    }),
    Second: waiting('Second'),
  });
  const bench = new Bench(slow);
  await bench.start();
  await bench.called();
  fill(bench);
  await bench.clock.pass(60);
  free(bench);
  await bench.clock.pass(4);
  const token = await bench.token(2);
  expect(bench.calls[1]?.stateName).toBe('Second');
  const after = restart(bench, slow);
  await after.service.resume();
  await after.succeed(token);
  expect((await after.ended()).status).toBe('SUCCEEDED');
});

test('a start that cannot be recorded is refused, and the same name can be started later', async () => {
  const bench = new Bench(definition);
  fill(bench);
  await expect(bench.start()).rejects.toThrow('readonly');
  free(bench);
  await bench.clock.pass(4);
  await bench.start();
  await bench.succeed(await bench.token());
  await bench.succeed(await bench.token(2));
  expect((await bench.ended()).status).toBe('SUCCEEDED');
});
