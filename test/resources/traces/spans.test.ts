import { expect, it } from 'vitest';
import { type TraceFacts, type TraceSpan, traceSpans } from '#resources/traces/spans.ts';
import type { Run } from '#run/run.ts';
import { newRun } from '#test/support/run.ts';

/** Spans from the record of a run. */

const second = (n: number): string => new Date(Date.UTC(2030, 0, 1, 0, 0, n)).toISOString();
const ms = (n: number): number => Date.parse(second(n));

const applied: Partial<Run> = {
  status: 'applied',
  createdAt: second(1),
  statusTimestamps: {
    'plan-queueable-at': second(1),
    'plan-queued-at': second(2),
    'planning-at': second(3),
    'planned-at': second(8),
    'apply-queued-at': second(20),
    'applying-at': second(21),
    'applied-at': second(30),
  },
};

const spansOf = (run: Partial<Run>, facts: Partial<TraceFacts> = {}): TraceSpan[] =>
  traceSpans({ run: newRun(run), tasks: [], resources: { plan: [], apply: [] }, url: 'https://x/run', ...facts });
const times = (spans: TraceSpan[], name: string) => {
  const span = spans.find((one) => one.name === name);
  return span && [(span.from - ms(0)) / 1000, (span.to - ms(0)) / 1000];
};

const withSteps = (at: number): Partial<Run> => ({
  ...applied,
  plan: {
    status: 'finished',
    statusTimestamps: {},
    report: {
      outcome: 'finished',
      steps: { at: second(at), began: { init: 0, plan: 1500 }, took: { init: 1000, plan: 2000 } },
    },
  },
});

it('each status lasts until the next one, and the last one until the end of the run', () => {
  const spans = spansOf(applied);
  expect(times(spans, 'run network')).toEqual([1, 30]);
  expect(spans.slice(1).map(({ name }) => [name, times(spans, name)])).toEqual([
    ['pending', [1, 2]],
    ['plan_queued', [2, 3]],
    ['planning', [3, 8]],
    ['planned', [8, 20]],
    ['apply_queued', [20, 21]],
    ['applying', [21, 30]],
  ]);
});

it('a run that was created by a request begins with it, and links the trace of its caller', () => {
  const request = {
    id: 'r1',
    at: second(0),
    method: 'PATCH',
    path: '/api/v2/configuration-versions/cv-aaaaaaaaaaaaaaaa/x',
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`,
  };
  const spans = spansOf({ ...applied, request });
  expect(spans[0]).toMatchObject({ from: ms(0), link: { traceId: '1'.repeat(32), spanId: '2'.repeat(16) } });
  expect(times(spans, 'PATCH /api/v2/configuration-versions/{id}/x')).toEqual([0, 1]);
});

it('steps of a runner follow its clock if that agrees with the platform', () => {
  const spans = spansOf(withSteps(3));
  expect([times(spans, 'init'), times(spans, 'plan')]).toEqual([
    [3, 4],
    [4.5, 6.5],
  ]);
});

it('steps and resources of a runner with a wrong clock begin with its phase', () => {
  const work = { address: 'a.b', work: 'read', from: ms(3605), to: ms(3606), failed: false, line: 7 } as const;
  const spans = spansOf(withSteps(3603), { resources: { plan: [work], apply: [] } });
  expect([times(spans, 'init'), times(spans, 'read a.b')]).toEqual([
    [3, 4],
    [5, 6],
  ]);
});

it('work on a resource that never ended lasts until its step ends, and lies within it', () => {
  const work = { address: 'a.b', work: 'create', from: ms(0), to: undefined, failed: false, line: 7 } as const;
  const spans = spansOf(withSteps(3), { resources: { plan: [work], apply: [] } });
  expect(times(spans, 'create a.b')).toEqual([4.5, 6.5]);
});

it.each([
  ['applied', 'success', undefined],
  ['errored', 'failure', 'it broke'],
  ['policy_soft_failed', 'failure', 'it broke'],
  ['canceled', 'cancellation', undefined],
  ['discarded', 'cancellation', undefined],
] as const)('a run that ended as %s has the result %s', (status, result, failed) => {
  const [root] = spansOf({ ...applied, status, endReason: 'it broke' });
  expect([root?.attributes?.['cicd.pipeline.result'], root?.failed]).toEqual([result, failed]);
});

it('a run that ended before it was planned has the statuses that it had', () => {
  const spans = spansOf({
    status: 'canceled',
    createdAt: second(1),
    statusTimestamps: { 'plan-queueable-at': second(1), 'canceled-at': second(4) },
    cancel: { by: 'user-1', at: second(3), forceAvailableAt: second(9) },
  });
  expect(spans.map(({ name }) => name)).toEqual(['run network', 'pending']);
  expect(spans[0]?.events).toEqual([{ name: 'cancel requested', at: ms(3) }]);
});

it.each<[string, Partial<Run['plan']>, Partial<Run['apply']>, boolean[]]>([
  ['a container of each phase', { taskId: 'task-1' }, { taskId: 'task-2' }, [false, false]],
  ['the runner of the plan', { taskId: 'task-1' }, { taskId: 'task-1' }, [false, true]],
  ['a warm runner', { taskId: 'task-1', reserved: { keyHash: '', taskId: 'task-1' } }, {}, [true, false]],
])('phases name whether %s was ready for them', (_, plan, apply, expected) => {
  const phase = { status: 'finished', statusTimestamps: {} } as const;
  const spans = spansOf({ ...applied, plan: { ...phase, ...plan }, apply: { ...phase, ...apply } });
  const of = (name: string) => spans.find((one) => one.name === name)?.attributes?.['stepform.runner.ready'];
  expect([of('planning'), of('applying')]).toEqual(expected);
});
