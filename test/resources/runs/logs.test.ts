import { expect, it } from 'vitest';
import type { Key } from '#platform/store/keys.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

await startAws();
const logs = await import('#resources/runs/logs.ts');
const table = await import('#platform/store/table.ts');

let n = 0;
const newLog = async (...pieces: string[]) => {
  const run = newRun({ id: `run-${String(++n).padStart(16, '0')}` });
  let offset = 0;
  for (const piece of pieces) {
    await logs.appendLog(run.id, 'plan', offset, Buffer.from(piece));
    offset += piece.length;
  }
  return run;
};

it('a log is read from any offset, across and within chunks', async () => {
  const run = await newLog('\x02abc', 'defgh', 'ij');
  const whole = '\x02abcdefghij';
  for (let offset = 0; offset <= whole.length + 1; offset++) {
    for (const limit of [1, 3, 100]) {
      const read = await logs.readLog(run, 'plan', offset, limit);
      expect(read.toString(), `from ${offset}, ${limit}`).toBe(whole.slice(offset, offset + limit));
    }
  }
});

it('a log accepts a repeated chunk and rejects gaps', async () => {
  const run = await newLog('\x02abc');
  await logs.appendLog(run.id, 'plan', 0, Buffer.from('\x02abc'));
  await logs.appendLog(run.id, 'plan', 9, Buffer.from('late'));
  expect((await logs.readLog(run, 'plan', 0, 100)).toString()).toBe('\x02abc');
});

it('an unfinished log is closed once and kept after its chunks have expired', async () => {
  const run = await newLog('\x02abc');
  await logs.storeLog(run.id, 'plan', 'The runner stopped.');
  await logs.storeLog(run.id, 'plan', 'The runner stopped.');
  const whole = '\x02abc\nThe runner stopped.\n\x03';
  expect((await logs.readLog(run, 'plan', 0, 100)).toString()).toBe(whole);
  const pieces = await table.query<Key & { expiresAt?: number }>({ pk: `LOG#${run.id}#plan` });
  expect(pieces.map(({ expiresAt }) => expiresAt)).toEqual([expect.any(Number), expect.any(Number)]);
  for (const { pk, sk } of pieces) await table.remove({ pk, sk });
  const ended = { ...run, plan: { ...run.plan, status: 'errored', logStored: true } } as const;
  expect((await logs.readLog(ended, 'plan', 0, 100)).toString()).toBe(whole);
  expect((await logs.readLog(ended, 'plan', 2, 5)).toString()).toBe(whole.slice(2, 7));

  const silent = await newLog();
  await logs.storeLog(silent.id, 'plan', '');
  expect([...(await logs.readLog(silent, 'plan', 0, 100))]).toEqual([0x02, 0x03]);
});

it('a log that a runner stored before it was interrupted is kept', async () => {
  const { objects } = await import('#platform/store/keys.ts');
  const { putObject } = await import('#platform/store/bucket.ts');
  const run = await newLog('\x02abc');
  await putObject(objects.artifact(run.id, 'plan', 'log'), new Uint8Array(Buffer.from('\x02abc and the rest\n\x03')));
  await logs.storeLog(run.id, 'plan', 'The runner stopped.');
  await logs.storeLog(run.id, 'plan', 'The runner stopped.');
  const ended = { ...run, plan: { ...run.plan, status: 'errored', logStored: true } } as const;
  expect((await logs.readLog(ended, 'plan', 0, 100)).toString()).toBe(
    '\x02abc and the rest\n\nThe runner stopped.\n\x03',
  );
});
