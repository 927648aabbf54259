import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { countTests } from './test-report.ts';

const folder = mkdtempSync(join(tmpdir(), 'reports-'));

const reportOf = (name: string, files: [file: string, status: string, tests: string[]][]): string => {
  const path = join(folder, `${name}.json`);
  const testResults = files.map(([file, status, tests]) => ({
    name: `/root/${file}`,
    status,
    message: '',
    assertionResults: tests.map((one) => ({ status: one })),
  }));
  writeFileSync(path, JSON.stringify({ testResults }));
  return path;
};

it('a later report of a file replaces the earlier one', () => {
  const tests = reportOf('tests', [
    ['a.test.ts', 'passed', ['passed', 'passed']],
    ['gitea.test.ts', 'passed', ['skipped', 'skipped']],
  ]);
  const later = reportOf('later', [['gitea.test.ts', 'passed', ['passed', 'skipped']]]);
  expect(countTests([tests, later, join(folder, 'none.json')], '/root')).toEqual({
    passed: 3,
    failed: 0,
    skipped: 1,
    skippedIn: new Map([['gitea.test.ts', 1]]),
  });
});

it('a file that cannot be loaded counts as a failure', () => {
  expect(countTests([reportOf('broken', [['a.test.ts', 'failed', []]])], '/root').failed).toBe(1);
});
