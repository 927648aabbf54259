import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

it('each mutant is noticed by a test that executes it, and by no failure of another mutant', () => {
  const files = ['functions/run/limits.ts', 'functions/run/operation.ts'];
  const tests = 'test/run/limits.test.ts,test/run/operation.test.ts';
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|STEPFORM_TEST|NODE_OPTIONS)/.test(name),
  );
  const printed = execFileSync(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), ...files, '--tests', tests, '--sample', '8', '--seed', '2'],
    { cwd: root, env: Object.fromEntries(environment), encoding: 'utf8' },
  );
  expect(printed).toMatch(/ of 8 covered mutants noticed/);
  const report = join(root, '.build/mutations', 'functions-run-limits.ts-functions-run-operation.ts.json');
  const outcomes = JSON.parse(readFileSync(report, 'utf8')) as { file: string; killer?: string; message?: string }[];
  const noticed = outcomes.filter(({ killer }) => killer !== undefined);
  expect(new Set(noticed.map(({ file }) => file)).size, 'mutants of both files').toBe(2);
  for (const { file, killer, message } of noticed) {
    expect(killer).toContain(`${file.replace(/^functions/, 'test').replace(/\.ts$/, '.test.ts')}: `);
    expect(message).toMatch(/^expected /);
  }
});
