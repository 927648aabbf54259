import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { waitsOf } from '#clients/web/text/queue.ts';

let counter = 0;
const run = (id: string, status: string, attributes: object = {}, workspace = 'ws'): Resource => ({
  id,
  type: 'runs',
  attributes: {
    status,
    'plan-only': false,
    'save-plan': false,
    'created-at': new Date(Date.UTC(2026, 0, 1, 0, counter++)).toISOString(),
    ...attributes,
  },
  relationships: { workspace: { data: { type: 'workspaces', id: workspace } } },
});

const lockedBy = (id: string | undefined, reason: string | null): Map<string, Resource> =>
  new Map([
    [
      'ws',
      {
        id: 'ws',
        type: 'workspaces',
        attributes: { locked: id !== undefined, 'locked-reason': reason },
        relationships: { 'locked-by': { data: id ? { type: 'any', id } : null } },
      },
    ],
  ]);

it('queue positions follow the order of creation, with any order of the list, and name the run ahead', () => {
  const front = run('front', 'planned');
  const [first, second] = [run('first', 'pending'), run('second', 'pending')];
  const other = run('other', 'pending', {}, 'another');
  const waits = waitsOf({ open: [second, other, first, front], workspaces: lockedBy('front', 'Locked by Run front') });
  expect([...waits]).toEqual([
    ['first', { place: 1, of: 2, front }],
    ['second', { place: 2, of: 2, front }],
    ['other', { place: 1, of: 1 }],
  ]);
});

it('the wait shows who locked the workspace, and why', () => {
  const waits = waitsOf({ open: [run('r', 'pending')], workspaces: lockedBy('user-1', 'Migration') });
  expect(waits.get('r')).toEqual({ place: 1, of: 1, heldBy: 'user-1', reason: 'Migration' });
});

it('the wait distinguishes a run with an errored state from one that has just ended', () => {
  const left = waitsOf({ open: [run('r', 'pending')], workspaces: lockedBy('run-1', 'What the apply of run-1 …') });
  expect(left.get('r')).toMatchObject({ heldBy: 'run-1' });
  const ended = waitsOf({ open: [run('r', 'pending')], workspaces: lockedBy('run-1', 'Locked by Run run-1') });
  expect(ended.get('r')).toEqual({ place: 1, of: 1 });
});

it('the queue ignores runs that do not queue, and ended runs', () => {
  const open = [
    run('plan', 'pending', { 'plan-only': true }),
    run('saved', 'pending', { 'save-plan': true }),
    run('over', 'applied'),
    run('r', 'pending'),
  ];
  expect([...waitsOf({ open, workspaces: new Map() })]).toEqual([['r', { place: 1, of: 1 }]]);
});
