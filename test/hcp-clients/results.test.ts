import { describe, expect, it } from 'vitest';
import { differences, resultsOf, summaryOf, unexpectedFailures, unknownNames } from './results.ts';

const event = (Action: string, Test: string, Output?: string) => JSON.stringify({ Action, Test, Output });

const results = resultsOf([
  event('run', 'TestA'),
  event('output', 'TestA/part', 'expected 2\n'),
  event('fail', 'TestA/part'),
  event('fail', 'TestA'),
  event('pass', 'TestB'),
  event('output', 'TestC', 'set GITHUB_TOKEN\n'),
  event('skip', 'TestC'),
  event('run', 'TestD'),
  'panic: a test ended the program',
]);
const names = ['TestA', 'TestB', 'TestC', 'TestD'];

describe('results of a suite', () => {
  it('belong to top-level tests, with the output of their subtests', () => {
    expect(results.get('TestA')).toEqual({ outcome: 'failed', output: 'expected 2\n' });
    expect([...results.keys()]).toEqual(['TestA', 'TestB', 'TestC']);
    const expected = { failing: [], apart: [], skips: [] };
    expect(summaryOf(names, results, expected)).toBe('1 of 2 tests passed (50.0 %), 1 skipped, 0 not counted');
  });

  it('differ by a failed and a missing test', () => {
    const expected = { failing: [], apart: [], skips: [/GITHUB_TOKEN/] };
    expect(differences(names, results, expected)).toEqual(['TestA failed:\nexpected 2', 'TestD has no result']);
  });

  it('differ by a listed test that passes, so that the list shrinks', () => {
    const failing = [{ reason: 'needs Sentinel', tests: ['TestA', 'TestB'] }];
    expect(differences(['TestA', 'TestB'], results, { failing, apart: [], skips: [] })).toEqual([
      'TestB passes now: remove it from the list',
    ]);
  });

  it('differ by a test that is skipped for another reason than the expected ones', () => {
    const expected = { failing: [], apart: [], skips: [/HYOK/] };
    expect(differences(['TestC'], results, expected)).toEqual(['TestC skipped:\nset GITHUB_TOKEN']);
  });

  it('do not differ by a test that passes or fails by chance, which is not counted', () => {
    const expected = { failing: [], apart: [{ reason: 'the internet', tests: ['TestA', 'TestB'] }], skips: [] };
    expect(differences(['TestA', 'TestB'], results, expected)).toEqual([]);
    expect(unexpectedFailures(results, expected)).toEqual([]);
    expect(summaryOf(names, results, expected)).toBe('0 of 0 tests passed (0.0 %), 1 skipped, 2 not counted');
    expect(unexpectedFailures(results, { ...expected, apart: [] })).toEqual(['TestA']);
  });

  it('name entries of the list that no test has', () => {
    expect(
      unknownNames(names, { failing: [{ reason: 'any', tests: ['TestA', 'TestOld'] }], apart: [], skips: [] }),
    ).toEqual(['TestOld']);
  });
});
