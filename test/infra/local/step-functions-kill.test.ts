import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Bench, folder } from './step-functions.support.ts';
import { definition as twoWaits } from './step-functions.worker.ts';

describe('kill -9', () => {
  /** What the worker said before it was killed in the middle of its work. */
  const workUntilKilled = async (dataDir: string, lines: number) => {
    const worker = spawn(
      process.execPath,
      [fileURLToPath(new URL('./step-functions.worker.ts', import.meta.url)), dataDir],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const said: { started?: string; called?: string; succeeded?: string; name?: string; token?: string }[] = [];
    for await (const line of createInterface(worker.stdout)) {
      said.push(JSON.parse(line));
      if (said.length === lines) worker.kill('SIGKILL');
    }
    return said;
  };

  test.each([100, 301, 1002])('after %i responses loses none of them', async (lines) => {
    const dataDir = folder();
    const said = await workUntilKilled(dataDir, lines);
    const bench = new Bench(twoWaits, undefined, { dataDir });
    const { resumed } = await bench.service.resume();

    const started = said.flatMap(({ started }) => started ?? []);
    expect(started.length).toBeGreaterThan(5);
    expect(resumed).toBeGreaterThanOrEqual(started.length);
    for (const name of started) expect((await bench.describe(name)).status).toBe('RUNNING');
    for (const { token } of said.filter(({ succeeded }) => succeeded)) {
      expect(await bench.refused('SendTaskSuccess', { taskToken: token!, output: '1' })).toBe('TaskTimedOut');
    }
    const last = said.filter(({ called }) => called === 'Two');
    expect(last.length).toBeGreaterThan(5);
    for (const { token, name } of last) {
      await bench.succeed(token!, 2);
      await bench.ended(name);
      expect(await bench.output(name)).toEqual({ one: 1, two: 2 });
    }
  });
});
