import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Bench, machine, restart, waiting } from './step-functions.support.ts';

/** Journals cannot be written, as on a full disk, until a test makes room again. */

const definition = machine({ First: waiting('First', { Next: 'Second' }), Second: waiting('Second') });
const journals = ({ dataDir }: Bench) => join(dataDir, 'journals');

const fill = (bench: Bench): void => {
  renameSync(journals(bench), `${journals(bench)}.away`);
  // A file is not a folder, not even for root.
  writeFileSync(journals(bench), '');
};
const free = (bench: Bench): void => {
  renameSync(journals(bench), `${journals(bench)}.file`);
  renameSync(`${journals(bench)}.away`, journals(bench));
};

test('a task result that cannot be recorded is refused, and accepted when it is sent again', async () => {
  const bench = new Bench(definition);
  await bench.start();
  const token = await bench.token();
  fill(bench);
  expect(await bench.refused('SendTaskSuccess', { taskToken: token, output: '{}' })).toContain('ENOTDIR');
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
  await expect(bench.start()).rejects.toThrow('ENOTDIR');
  free(bench);
  await bench.clock.pass(4);
  await bench.start();
  await bench.succeed(await bench.token());
  await bench.succeed(await bench.token(2));
  expect((await bench.ended()).status).toBe('SUCCEEDED');
});
