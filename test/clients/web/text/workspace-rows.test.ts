import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { rowOf, withOpenRuns } from '#clients/web/text/workspace-rows.ts';

const workspace = (id: string): Resource => ({ id, type: 'workspaces', attributes: { name: id } });

const run = (id: string, of: string, status: string, attributes: object = {}): Resource => ({
  id,
  type: 'runs',
  attributes: {
    status,
    'auto-apply': false,
    'plan-only': false,
    'save-plan': false,
    'status-timestamps': {},
    actions: { 'is-confirmable': status === 'planned' },
    ...attributes,
  },
  relationships: { workspace: { data: { type: 'workspaces', id: of } } },
});

const [a, b, c] = ['a', 'b', 'c'].map(workspace) as [Resource, Resource, Resource];

it('workspaces are grouped by what their run needs from the user', () => {
  expect(rowOf(a, undefined).group).toBe('idle');
  expect(rowOf(a, run('r', 'a', 'planned')).group).toBe('attention');
  expect(rowOf(a, run('r', 'a', 'pending')).group).toBe('running');
  expect(rowOf(a, run('r', 'a', 'errored')).group).toBe('bad');
  expect(rowOf(a, run('r', 'a', 'applied')).group).toBe('good');
  expect(rowOf(a, run('r', 'a', 'discarded')).group).toBe('idle');
});

it('rows are updated from unfinished runs, and finished ones are reported', () => {
  const rows = [rowOf(a, run('r1', 'a', 'applied')), rowOf(b, run('r2', 'b', 'applying')), rowOf(c, undefined)];
  const merged = withOpenRuns(rows, [
    run('r3', 'a', 'planned'),
    run('r4', 'a', 'pending'),
    run('r5', 'c', 'planning', { 'plan-only': true }),
  ]);
  expect(merged.rows.map((row) => [row.run?.id, row.group])).toEqual([
    ['r3', 'attention'],
    ['r2', 'running'],
    [undefined, 'idle'],
  ]);
  expect(merged.ended).toEqual(['r2']);
});

it('rows are the identical list while nothing changes', () => {
  const rows = [rowOf(a, run('r1', 'a', 'planning')), rowOf(b, undefined)];
  expect(withOpenRuns(rows, [run('r1', 'a', 'planning')])).toEqual({ rows, ended: [] });
  expect(withOpenRuns(rows, [run('r1', 'a', 'planning')]).rows).toBe(rows);
  expect(withOpenRuns(rows, [run('r1', 'a', 'planned')]).rows).not.toBe(rows);
});
