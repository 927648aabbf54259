import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archive, Bench, jobFor } from './support.ts';

const bench = Bench.use();

const compiledIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(^|\/)runner-[^/]*$/.test(name))
    .map((name) => join(folder, name));

describe('the code that V8 made of the program', () => {
  it('is kept by the first run, used by the next, and made anew where it is damaged', async () => {
    const folder = join(bench.directory, 'compiled');
    const environment = { NODE_COMPILE_CACHE: folder };
    const configuration = await archive({ 'main.tf': 'resource "terraform_data" "a" {}' });
    const run = async () => {
      const { code, report } = await bench.run(jobFor(bench.plane, configuration), environment);
      expect([code, report?.outcome]).toEqual([0, 'finished']);
      const files = compiledIn(folder);
      expect(files).toHaveLength(1);
      return files[0] as string;
    };

    const file = await run();
    const first = statSync(file);
    expect(first.mode & 0o777).toBe(0o600);
    // With the functions that the run called: what Node keeps is a tenth of it.
    expect(first.size).toBeGreaterThan(200_000);

    await run();
    expect(statSync(file).ino).toBe(first.ino);

    const damaged = readFileSync(file);
    damaged.fill(0, damaged.length / 2);
    writeFileSync(file, damaged);
    await run();
    expect(statSync(file).ino).not.toBe(first.ino);
    expect(readFileSync(file).equals(damaged)).toBe(false);
  });

  it('is not kept by a runner that had no run', async () => {
    const folder = join(bench.directory, 'compiled');
    const { claim } = bench.plane.offer(jobFor(bench.plane, await archive({ 'main.tf': '' })));
    const runner = bench.start(`${claim}-of-another`, { NODE_COMPILE_CACHE: folder });
    expect(await runner.ended).toBe(0);
    expect(compiledIn(folder)).toEqual([]);
  });
});
