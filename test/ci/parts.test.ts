import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { isProven, Parts, tableOf } from './parts.ts';

let folder: string;
let parts: Parts;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parts-'));
  // Prints nothing, because CI would count the skips of these parts as skips of this test run.
  parts = new Parts(folder, folder, () => {});
});

const script = (text: string): [string, ...string[]] => [process.execPath, '-e', text];

it('a part that fails does not end the next ones, and the table names it with its exit code', async () => {
  await parts.run({ name: 'lint', command: script('console.log("a finding"); process.exit(3)') });
  await parts.run({ name: 'chaos', command: script('console.log("nothing was lost")') });
  expect(tableOf(parts.results)).toMatch(/^lint {3}failed {6}\d s\n {7}exit code 3\nchaos {2}passed {6}\d s$/);
  expect(isProven(parts.results, false)).toBe(false);
  expect(readFileSync(join(folder, 'lint.log'), 'utf8')).toBe('a finding\n');
});

it('a part that prints why it is skipped proves nothing, which only the strict mode rejects', async () => {
  await parts.run({ name: 'template', command: script('console.error("SKIPPED: there is no Python")') });
  await parts.run({
    name: 'tests',
    command: script('console.log("SKIPPED: 3 tests of the page: no browser\\n7 passed")'),
  });
  expect(parts.results.map(({ outcome, reasons }) => [outcome, reasons])).toEqual([
    ['skipped', ['there is no Python']],
    ['passed', ['3 tests of the page: no browser']],
  ]);
  expect(tableOf(parts.results)).toContain('not proven: there is no Python');
  expect([isProven(parts.results, false), isProven(parts.results, true)]).toEqual([true, false]);
});

it('a program that cannot be started fails its part', async () => {
  const { outcome, reasons } = await parts.run({ name: 'x', command: ['/nonexistent/program'] });
  expect([outcome, reasons]).toEqual(['failed', [expect.stringContaining('ENOENT')]]);
});

it('ending the run ends the processes that parts have started', async () => {
  const started = join(folder, 'started');
  const child = `require("fs").writeFileSync(${JSON.stringify(started)}, ""); setTimeout(() => {}, 600_000)`;
  const parent = `require("child_process").spawnSync(process.execPath, ["-e", ${JSON.stringify(child)}])`;
  const running = parts.run({ name: 'builds', command: script(parent) });
  await expect.poll(() => existsSync(started)).toBe(true);
  parts.end();
  expect(await running).toMatchObject({ outcome: 'failed', reasons: ['ended by SIGTERM'] });
});
