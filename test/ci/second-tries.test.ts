import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isProven, Parts, tableOf } from './parts.ts';
import { addToHistory, tooOften, tryAgain } from './second-tries.ts';

const day = (n: number): Date => new Date(Date.UTC(2026, 0, n));

it('a test that needed a second try three times in a month is reported as a defect', () => {
  let history = addToHistory({}, ['a.test.ts: x'], day(1));
  history = addToHistory(history, ['a.test.ts: x', 'a.test.ts: y'], day(20));
  expect(tooOften(history)).toEqual([]);
  history = addToHistory(history, ['a.test.ts: x'], day(25));
  expect(tooOften(history)).toEqual(['a.test.ts: x (3 times in 30 days)']);
});

it('second tries of more than a month ago are forgotten', () => {
  const history = addToHistory({ 'a.test.ts: x': [day(1).toISOString(), day(20).toISOString()] }, [], day(40));
  expect(history).toEqual({ 'a.test.ts: x': [day(20).toISOString()] });
  expect(addToHistory(history, [], day(60))).toEqual({});
});

/** A program that prints and reports results like Vitest, fails unless its option is --pass, and accepts test files. */
const vitestLike = (script: string, passes: string): [string, ...string[]] => {
  writeFileSync(
    script,
    `const [passes, ...files] = process.argv.slice(2);
const failing = { '--pass': [], '--fail': ['a.test.ts'], '--fail-all': 'abcdef'.split('').map((one) => one + '.test.ts') };
const testResults = [...(files.length > 0 ? files : failing[passes] ?? [])].map((file) => ({
  name: process.cwd() + '/' + file,
  message: '',
  status: passes === '--pass' ? 'passed' : 'failed',
  assertionResults: [{ status: passes === '--pass' ? 'passed' : 'failed', fullName: 'x', failureMessages: ['Error: 1'] }],
}));
require('node:fs').writeFileSync(process.env.STEPFORM_TEST_REPORT, JSON.stringify({ testResults }));
if (passes === '--stray') console.log('This error originated in "b.test.ts" test file. It was thrown meanwhile.');
console.log('files: ' + files.join(' '));
process.exitCode = passes === '--pass' ? 0 : 1;`,
  );
  return [process.execPath, script, passes];
};

const runTwice = async (first: string, second: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'tries-'));
  const parts = new Parts(folder, folder, () => {});
  const reports: [string, string] = [join(folder, 'first.json'), join(folder, 'second.json')];
  const script = join(folder, 'vitest.cjs');
  const env = { STEPFORM_TEST_REPORT: reports[0] };
  const result = await parts.run({ name: 'tests', command: vitestLike(script, first), env });
  await tryAgain(parts, result, { command: vitestLike(script, second), reports, root: folder });
  return parts.results;
};

beforeEach(() => {
  vi.stubEnv('STEPFORM_SECOND_TRIES', join(mkdtempSync(join(tmpdir(), 'history-')), 'history.json'));
});
afterEach(() => void vi.unstubAllEnvs());

it('runs failed files again, names what passed then, and fails a test that needs it a third time', async () => {
  const results = await runTwice('--fail', '--pass');
  expect(results.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['tests', 'passed'],
    ['tests, second try', 'passed'],
  ]);
  expect(results[1]?.output).toBe('files: a.test.ts\n');
  expect(tableOf(results)).toContain('at the second try only: a.test.ts: x\n');
  expect(results[0]?.firstFailures).toEqual(['a.test.ts: x\n  Error: 1']);
  expect(isProven(await runTwice('--fail', '--pass'), false)).toBe(true);
  const third = await runTwice('--fail', '--pass');
  expect(isProven(third, false)).toBe(false);
  expect(third[0]?.reasons).toEqual([expect.stringMatching(/too often .*: a\.test\.ts: x \(3 times in 30 days\)$/)]);
});

it('a file that fails again has failed', async () => {
  const results = await runTwice('--fail', '--fail');
  expect(results.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
});

it('runs the file again during which an error was thrown that belongs to no test', async () => {
  const [first, second] = await runTwice('--stray', '--pass');
  expect([first?.outcome, second?.output]).toEqual(['passed', 'files: b.test.ts\n']);
});

it.each([
  ['many failed files', '--fail-all'],
  ['none that is named', '--nothing'],
])('does not run %s again', async (_, first) => {
  expect((await runTwice(first, '--pass')).map(({ outcome }) => outcome)).toEqual(['failed']);
});
