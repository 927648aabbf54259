import { describe, expect, it, vi } from 'vitest';
import { type Decision, runActions } from '#run/actions.ts';
import type { Run } from '#run/run.ts';
import type { Overridable } from '#run/status.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** The SDK retries a call whose response was lost: a conditional write then fails because of its own first attempt. */

const aws = await startAws({ attempts: 2 });
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/creation/new-run.ts')),
  ...(await import('#lifecycle/decisions/decisions.ts')),
  ...(await import('#resources/runs/events.ts')),
  ...(await import('#platform/store/edits.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
};

let count = 0;
const id = (prefix: string) => `${prefix}-${String(++count).padStart(16, '0')}`;

const open = async (set: Partial<Run>): Promise<Run> => {
  const run = newRun({ id: id('run'), workspaceId: id('ws'), ...set });
  await store.create({ ...store.keys.run(run.id), ...run });
  return run;
};

it('a new run is queued and started although the response to its first write was lost', async () => {
  const workspaceId = id('ws');
  await store.create({ ...store.keys.workspace(workspaceId), id: workspaceId, organization: 'acme', runCount: 0 });
  const { id: _, number, status, ...options } = newRun();
  aws.failCall(2, 'after');
  const run = await store.createRun(workspaceId, { ...options, id: id('run') });
  expect(aws.sent.filter(({ action, input }) => action === 'StartExecution' && input.name === run.id)).toHaveLength(1);
});

it.each([1, 2])('runs are numbered without a gap although the response to call %d was lost', async (call) => {
  const workspaceId = id('ws');
  await store.create({ ...store.keys.workspace(workspaceId), id: workspaceId, organization: 'acme', runCount: 0 });
  const { id: _, number, status, ...options } = newRun();
  aws.failCall(call, 'after');
  const runs = [await store.createRun(workspaceId, options), await store.createRun(workspaceId, options)];
  expect(runs.map((run) => run.number)).toEqual([1, 2]);
  const listed = await store.listRuns(workspaceId, { page: 1, size: 10, total: 2 });
  expect(listed.map((run) => run.id)).toEqual(runs.map((run) => run.id).reverse());
});

it.each([0, 3])('ETags stay correct after %d changes whose responses were lost', async (edits) => {
  const key = store.keys.team(id('team'));
  await store.create({ ...key, ...(edits ? { edits } : {}) });
  const editor = { userId: 'user-1', edits };
  aws.failCall(1, 'after');
  expect(await store.update(key, store.asEdit({ set: { name: 'mine' } }, editor))).toMatchObject({ name: 'mine' });
  // Another user who has read the previous version.
  const late = store.asEdit({ set: { name: 'theirs' } }, { ...editor, userId: 'user-2' });
  expect(await store.update(key, late)).toBeUndefined();
});

it('two edits by one user in the same millisecond are distinguished', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  try {
    const key = { pk: 'EDIT', sk: 'TWICE' };
    await store.put({ ...key, name: 'old' });
    const [first, second] = ['a', 'b'].map((name) => store.asEdit({ set: { name } }, { userId: 'user-1', edits: 0 }));
    expect(await store.update(key, first!)).toMatchObject({ name: 'a', edits: 1 });
    expect(await store.update(key, second!)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

describe('a run action whose response was lost is accepted, recorded and delivered', () => {
  const waits = { wait: { state: 'NeedsConfirmation', token: 'token' } };
  const confirmable = { status: 'planned', ...waits } as const;
  const past = '2020-01-01T00:00:00.000Z';

  const cases: Record<Decision, [Partial<Run>, sent: string, which?: Overridable]> = {
    apply: [confirmable, 'SendTaskSuccess'],
    discard: [confirmable, 'SendTaskFailure'],
    cancel: [{ status: 'pending', wait: { state: 'Pending', token: 'token' } }, 'SendTaskFailure'],
    'force-cancel': [
      {
        status: 'planning',
        wait: { state: 'Planning', token: 'token' },
        cancel: { by: 'user-1', at: past, forceAvailableAt: past },
      },
      'SendTaskFailure',
    ],
    override: [
      {
        status: 'policy_override',
        wait: { state: 'PolicyOverride', token: 'token' },
        verdicts: { policyCheck: 'soft_failed' },
        overrides: {},
        checks: { policyCheck: true },
      },
      'SendTaskSuccess',
      'policyCheck',
    ],
  };

  it.each(Object.keys(cases) as Decision[])('%s', async (action) => {
    const [set, sent, which] = cases[action];
    const run = await open(set);
    aws.failCall(1, 'after');
    expect(await store.decide(run, action, 'user-1', undefined, which)).toBe('accepted');
    expect(aws.sent.at(-1)?.action).toBe(sent);
    const stored = (await store.getRun(run.id)) as Run;
    const events = (await store.listRunEvents(stored)).filter(({ actor, action }) => actor && action !== 'created');
    expect(events.map((event) => event.action)).toEqual([runActions[action].event]);
  });

  it.each(Object.keys(cases) as Decision[])('%s, sent again later, has no second effect', async (action) => {
    const [set, , which] = cases[action];
    const run = await open(set);
    const act = (by: string) => store.decide(run, action, by, undefined, which);
    const { repeatable, accepted, event } = runActions[action];
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      expect(await act('user-1')).toBe('accepted');
      vi.advanceTimersByTime(5);
      // A run can be force-canceled until it ends.
      if (accepted === 'cooled off') return;
      expect(await act('user-1')).toBe(repeatable ? 'accepted' : 'conflict');
      expect(await act('user-2')).toBe('conflict');
    } finally {
      vi.useRealTimers();
    }
    const events = await store.listRunEvents((await store.getRun(run.id)) as Run);
    expect(events.filter(({ action }) => action === event)).toHaveLength(1);
  });

  it('only once: the same action of another user is rejected', async () => {
    const run = await open(confirmable);
    expect(await store.decide(run, 'discard', 'user-1')).toBe('accepted');
    expect(await store.decide(run, 'discard', 'user-2')).toBe('conflict');
  });
});
