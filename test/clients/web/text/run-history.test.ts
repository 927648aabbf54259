import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { dailyLevels, dailyRuns, isStale, workedMs } from '#clients/web/text/run-history.ts';

const at = (hour: number, second = 0) => new Date(2030, 0, 15, hour, 0, second).toISOString();

let runs = 0;
const run = (status: string, stamps: Record<string, string>, { created = at(9), workspace = 'ws-1' } = {}) =>
  ({
    id: `run-${++runs}`,
    attributes: {
      status,
      'created-at': created,
      'status-timestamps': stamps,
      actions: { 'is-confirmable': false },
    },
    relationships: { workspace: { data: { type: 'workspaces', id: workspace } } },
  }) as unknown as Resource<'runs'>;

it.each([
  [
    'plan and apply without the wait between them',
    { 'planning-at': at(9, 0), 'planned-at': at(9, 4), 'applying-at': at(10, 0), 'applied-at': at(10, 6) },
    10_000,
  ],
  ['a plan without changes', { 'planning-at': at(9, 0), 'planned-and-finished-at': at(9, 3) }, 3_000],
  ['a plan that failed', { 'planning-at': at(9, 0), 'errored-at': at(9, 2) }, 2_000],
  [
    'an apply that failed',
    { 'planning-at': at(9, 0), 'planned-at': at(9, 4), 'applying-at': at(10, 0), 'errored-at': at(10, 1) },
    5_000,
  ],
  ['a run that never began', {}, 0],
])('the history counts %s', (_, stamps, ms) => {
  expect(workedMs(run('applied', stamps))).toBe(ms);
});

it('the history counts runs by day, including days without runs', () => {
  const good = { 'planning-at': at(9, 0), 'planned-and-finished-at': at(9, 3) };
  const yesterday = new Date(2030, 0, 14, 23, 59).toISOString();
  const days = dailyRuns(
    [
      run('planned_and_finished', good),
      run('errored', { 'errored-at': at(9) }),
      run('discarded', {}),
      run('applied', good, { created: yesterday }),
      run('applied', good, { created: new Date(2029, 11, 1).toISOString() }),
    ],
    3,
    new Date(2030, 0, 15, 18).getTime(),
  );
  expect(days).toEqual([
    { date: '2030-01-13', succeeded: 0, failed: 0, other: 0, medianMs: undefined },
    { date: '2030-01-14', succeeded: 1, failed: 0, other: 0, medianMs: 3_000 },
    { date: '2030-01-15', succeeded: 1, failed: 1, other: 1, medianMs: 3_000 },
  ]);
});

it('the history calculates past resources and costs from the current ones', () => {
  const day = (date: number) => new Date(2030, 0, date, 12).toISOString();
  const parts = new Map<string, Resource>();
  const applied = (on: number, added: number, destroyed: number, cost?: [prior: string, proposed: string]) => {
    const one = run('applied', { 'applied-at': day(on) }, { created: day(on) });
    parts.set(`apply-${one.id}`, {
      attributes: { 'resource-additions': added, 'resource-destructions': destroyed },
    } as unknown as Resource);
    const [prior, proposed] = cost ?? [];
    if (cost)
      parts.set(`ce-${one.id}`, {
        attributes: { 'prior-monthly-cost': prior, 'proposed-monthly-cost': proposed },
      } as unknown as Resource);
    Object.assign(one.relationships ?? {}, {
      apply: { data: { type: 'applies', id: `apply-${one.id}` } },
      'cost-estimate': { data: { type: 'cost-estimates', id: `ce-${one.id}` } },
    });
    return one;
  };
  const now = new Date(2030, 0, 15, 18).getTime();
  const newestFirst = [applied(15, 1, 3, ['20.5', '30.5']), applied(14, 5, 0), applied(13, 2, 0, ['10.0', '20.5'])];
  expect(dailyLevels(newestFirst, parts, { resources: 9, days: 4, now })).toEqual([
    { date: '2030-01-12', resources: 4, monthlyCost: 10 },
    { date: '2030-01-13', resources: 6, monthlyCost: 20.5 },
    { date: '2030-01-14', resources: 11, monthlyCost: 20.5 },
    { date: '2030-01-15', resources: 9, monthlyCost: 30.5 },
  ]);
  expect(dailyLevels([applied(15, 1, 0)], parts, { resources: 1, days: 1, now })[0]?.monthlyCost).toBeUndefined();
});

it.each([
  [3, 91, true],
  [3, 89, false],
  [0, 91, false],
])('a workspace of %d resources that was changed %d days ago is stale: %s', (count, daysAgo, stale) => {
  const now = Date.parse(at(9));
  const workspace = {
    attributes: { 'resource-count': count, 'latest-change-at': new Date(now - daysAgo * 86_400_000).toISOString() },
  } as unknown as Resource<'workspaces'>;
  expect(isStale(workspace, now)).toBe(stale);
});
