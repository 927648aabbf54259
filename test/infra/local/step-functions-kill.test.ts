import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Bench, folder } from './step-functions.support.ts';
import { definition as twoWaits } from './step-functions.worker.ts';

type Response = { started?: string; called?: string; succeeded?: string; name?: string; token?: string };

describe('kill -9', () => {
  /** Output of the worker until it was killed in the middle of its work. */
  const workUntilKilled = async (dataDir: string, lines: number) => {
    const worker = spawn(
      process.execPath,
      [fileURLToPath(new URL('./step-functions.worker.ts', import.meta.url)), dataDir],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let text = '';
    let killed = false;
    for await (const part of worker.stdout.setEncoding('utf8')) {
      text += part;
      if (!killed && text.split('\n').length > lines) killed = worker.kill('SIGKILL');
    }
    // The last line may be incomplete.
    return text
      .split('\n')
      .slice(0, -1)
      .map((line): Response => JSON.parse(line));
  };

  test.each([100, 301, 1002])('after %i responses loses none of them', async (lines) => {
    const dataDir = folder();
    const responses = await workUntilKilled(dataDir, lines);
    const bench = new Bench(twoWaits, undefined, { dataDir });
    const { resumed } = await bench.service.resume();

    const started = responses.flatMap(({ started }) => started ?? []);
    expect(started.length).toBeGreaterThan(5);
    expect(resumed).toBeGreaterThanOrEqual(started.length);
    for (const name of started) expect((await bench.describe(name)).status).toBe('RUNNING');
    for (const { token } of responses.filter(({ succeeded }) => succeeded)) {
      expect(await bench.refused('SendTaskSuccess', { taskToken: token!, output: '1' })).toBe('TaskTimedOut');
    }
    const last = responses.filter(({ called }) => called === 'Two');
    expect(last.length).toBeGreaterThan(5);
    for (const { token, name } of last) {
      await bench.succeed(token!, 2);
      await bench.ended(name);
      expect(await bench.output(name)).toEqual({ one: 1, two: 2 });
    }
  });
});
