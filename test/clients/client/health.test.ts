import { describe, expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { failedChecksOf, problemsOf } from '#clients/client/text/health.ts';

const checks = [{ address: 'check.shop', message: 'It answers with status 500' }];

const run = (failedChecks: object[]) =>
  ({
    attributes: {
      'created-at': '2026-01-01T10:00:00Z',
      'status-timestamps': { 'applied-at': '2026-01-01T12:00:00Z' },
      'failed-checks': failedChecks,
    },
  }) as unknown as Resource<'runs'>;

const assessment = (at: string, attributes: object = {}) =>
  ({
    attributes: { 'created-at': at, succeeded: true, drifted: false, 'all-checks-succeeded': true, ...attributes },
  }) as unknown as Resource<'assessment-results'>;

const before = assessment('2026-01-01T11:00:00Z');
const after = assessment('2026-01-01T13:00:00Z');

describe('a check that failed in the latest run', () => {
  const namesOf = (...of: Parameters<typeof problemsOf>) => problemsOf(...of).map(({ text }) => text);

  it('is a problem of the workspace, until a later assessment evaluated it again', () => {
    expect(namesOf(undefined, run(checks))).toEqual(['Checks failed']);
    expect(namesOf(before, run(checks))).toEqual(['Checks failed']);
    expect(namesOf(after, run(checks))).toEqual([]);
    expect(failedChecksOf(run(checks), before)).toEqual(checks);
    expect(failedChecksOf(run(checks), after)).toEqual([]);
    expect(namesOf(undefined, run([]))).toEqual([]);
    expect(namesOf(undefined, undefined)).toEqual([]);
  });

  it('is named once, beside drift', () => {
    const drifted = assessment('2026-01-01T11:00:00Z', { drifted: true, 'all-checks-succeeded': false });
    expect(namesOf(drifted, run(checks))).toEqual(['Drifted', 'Checks failed']);
  });
});
