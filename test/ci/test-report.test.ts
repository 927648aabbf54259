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
    message: status === 'failed' ? 'cannot be loaded' : '',
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
    failedIn: new Map(),
  });
});

it('a file that cannot be loaded counts as a failure', () => {
  const broken = reportOf('broken', [['a.test.ts', 'failed', []]]);
  expect(countTests([broken], '/root')).toMatchObject({
    failed: 1,
    failedIn: new Map([['a.test.ts', ['a.test.ts\n  cannot be loaded']]]),
  });
});

it('a failed test is listed with the first lines of its failure', () => {
  const path = join(folder, 'failed.json');
  const failureMessages = [`Error: 1 is not 2\n${'    at line\n'.repeat(50)}`];
  const assertionResults = [{ status: 'passed' }, { status: 'failed', fullName: 'the sum is right', failureMessages }];
  const testResults = [{ name: '/root/a.test.ts', status: 'failed', message: '', assertionResults }];
  writeFileSync(path, JSON.stringify({ testResults }));
  const failures = countTests([path], '/root').failedIn.get('a.test.ts');
  expect(failures).toEqual([expect.stringMatching(/^a\.test\.ts: the sum is right\n {2}Error: 1 is not 2\n/)]);
  expect(failures?.[0]?.split('\n').length).toBeLessThan(20);
});
