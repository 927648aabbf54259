import { expect, it } from 'vitest';
import { allChecksSucceeded, healthOf, isDrifted, nextAssessment } from '#run/health.ts';
import type { Phase, Run } from '#run/run.ts';
import { stoppingReason } from '#run/stopping.ts';
import { newRun } from '#test/support/run.ts';

const at = '2026-01-02T00:00:00.000Z';
const plan = (report: Partial<NonNullable<Phase['report']>>): Phase => ({
  status: 'finished',
  statusTimestamps: {},
  report: { outcome: 'finished', ...report },
});
const assessed = (change: Partial<Run>) =>
  healthOf(
    newRun({
      assessment: {},
      status: 'planned_and_finished',
      statusTimestamps: { 'planned-and-finished-at': at },
      ...change,
    } as Partial<Run>),
  );

it('an ended assessment has a result: the findings of its plan, or the reason of its failure', () => {
  const health = { resourcesDrifted: 1, resourcesUndrifted: 2 };
  const id = newRun().id;
  expect(assessed({ plan: plan({ health, artifacts: { 'plan-json': 'sha' } } as never) })).toEqual({
    runId: id,
    at,
    succeeded: true,
    hasPlan: true,
    ...health,
  });
  const errored: Partial<Run> = {
    status: 'errored',
    statusTimestamps: { 'errored-at': at },
    plan: plan({ message: 'no disk' }),
  };
  expect(assessed(errored)).toEqual({ runId: id, at, succeeded: false, message: 'no disk' });
  expect(assessed({ ...errored, endReason: 'It was stopped.' })?.message).toBe('It was stopped.');
  expect(assessed({ ...errored, plan: plan({}) })?.message).toBe('The assessment failed.');
  expect(assessed({ ...errored, statusTimestamps: {} })?.at).toBe(newRun().createdAt);
});

it.each<[string, Partial<Run>]>([
  ['a run that is no assessment', { assessment: undefined }],
  ['an assessment of a state that is no longer current', { assessment: { outdated: true } } as Partial<Run>],
  ['an assessment under way', { status: 'planning' }],
  ['a canceled assessment', { status: 'canceled' }],
])('%s has no result', (_, change) => {
  expect(assessed(change)).toBeUndefined();
});

it('drift and checks are known only if they were assessed', () => {
  expect([undefined, 0, 1].map((resourcesDrifted) => isDrifted({ resourcesDrifted } as never))).toEqual([
    undefined,
    false,
    true,
  ]);
  const checks = (checksFailed?: number, checksErrored?: number) =>
    allChecksSucceeded({ checksFailed, checksErrored } as never);
  expect([checks(), checks(0), checks(0, 1), checks(1), checks(0, 0)]).toEqual([undefined, true, false, false, true]);
});

it('the next assessment is due a day after the last one, and after the last change of the state', () => {
  expect(nextAssessment(undefined, { at })).toBeUndefined();
  expect(nextAssessment({ at }, undefined)).toBe('2026-01-03T00:00:00.000Z');
  expect(nextAssessment({ at }, { at: '2026-01-01T00:00:00.000Z' })).toBe('2026-01-03T00:00:00.000Z');
  expect(nextAssessment({ at }, { at: '2026-01-02T06:00:00.000Z' })).toBe('2026-01-03T06:00:00.000Z');
});

it('a run whose runner stopped answering reports the phase that is being stopped', () => {
  const silent = { Error: 'States.HeartbeatTimeout' };
  expect(stoppingReason(newRun(), silent)).toMatch(/^The runner stopped answering during the plan\./);
  const apply = { status: 'running' as const, statusTimestamps: {} };
  expect(stoppingReason(newRun({ apply }), silent)).toMatch(/during the apply\./);
  expect(stoppingReason(newRun(), { Error: 'States.Timeout' })).toBeUndefined();
  expect(stoppingReason(newRun(), undefined)).toBeUndefined();
});
