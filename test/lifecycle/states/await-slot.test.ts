import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Run } from '#run/run.ts';
import { noSlots, type Slots, slotStates } from '#run/slots.ts';
import { startAws } from '#test/support/aws.ts';
import { newRun } from '#test/support/run.ts';

/** The state in which a phase waits for a slot. */

const aws = await startAws();
const { keys } = await import('#platform/store/keys.ts');
const { create, get, remove } = await import('#platform/store/table.ts');
const { getRun, updateRun } = await import('#resources/runs/records.ts');
const { handler } = await import('#lifecycle/states/await-turn.ts');

beforeEach(async () => {
  process.env.MAX_RUNNERS = JSON.stringify({ platform: 1 });
  await remove(keys.slots);
  aws.sent.length = 0;
  aws.invoked.length = 0;
});
afterEach(() => {
  process.env.MAX_RUNNERS = '';
  aws.failCall(0, 'before');
  vi.restoreAllMocks();
});

let count = 0;
const open = async (change: Partial<Run> = {}): Promise<string> => {
  const n = String(++count).padStart(16, '0');
  const run = newRun({ id: `run-${n}`, workspaceId: `ws-${n}`, current: true, limited: true, ...change });
  await create({ ...keys.workspace(run.workspaceId), id: run.workspaceId, organization: run.organization });
  await create({ ...keys.run(run.id), ...run });
  return run.id;
};
const enter = async (runId: string, attempt = 1): Promise<Run> => {
  await handler({ state: slotStates.plan, runId, token: `${runId}/${attempt}` });
  return (await getRun(runId)) as Run;
};
const holders = async () => Object.keys(((await get<Slots>(keys.slots)) ?? noSlots).held);

const planned = {
  status: 'planning',
  autoApply: true,
  plan: { status: 'finished', statusTimestamps: {}, report: { outcome: 'finished', hasChanges: true } },
} as const;

describe('a phase', () => {
  it('takes a free slot with the write of its run, and continues', async () => {
    const id = await open();
    expect(await enter(id)).toMatchObject({ slot: 'plan', wait: { state: slotStates.plan } });
    expect(await holders()).toEqual([`${id}.plan`]);
    expect(aws.sent).toMatchObject([{ action: 'SendTaskSuccess', input: { taskToken: `${id}/1` } }]);
  });

  it('waits while no slot is free, and its run is notified of once', async () => {
    const holder = await open();
    await enter(holder);
    aws.sent.length = 0;
    const id = await open({ notifies: true });
    expect((await enter(id)).slot).toBeUndefined();
    expect((await enter(id, 2)).slot).toBeUndefined();
    expect([await holders(), aws.sent]).toEqual([[`${holder}.plan`], []]);
    expect((await get<Slots>(keys.slots))?.waiting).toEqual([{ organization: 'acme', next: 'plan' }]);
    expect(aws.invoked).toMatchObject([{ event: { runId: id, trigger: 'run:created' } }]);
  });

  it('is the apply in the state of the apply', async () => {
    const commit = { tokenId: 'ot-1', identifier: 'acme/network', sha: 'a'.repeat(40) };
    const id = await open({ ...planned, commit, wait: { state: 'PlanQueued', token: 'x' } });
    await handler({ state: slotStates.apply, runId: id, token: `${id}/1` });
    expect([await getRun(id), await holders()]).toMatchObject([{ slot: 'apply' }, [`${id}.apply`]]);
    expect(aws.invoked, 'notified of by the state before').toEqual([]);
  });

  it('of a run that was discarded takes none', async () => {
    const id = await open({ decision: { action: 'discard', by: 'user-1', at: '' } });
    expect((await enter(id)).slot).toBeUndefined();
    expect(await holders()).toEqual([]);
    expect(aws.sent).toMatchObject([{ action: 'SendTaskFailure', input: { error: 'Discarded' } }]);
  });

  it('returns the slot that it took if its run ends before it is written', async () => {
    const id = await open();
    let calls = 0;
    aws.gate = async () => {
      // The write of the run follows its read, and the read and write of the slots.
      if (++calls === 4) await updateRun(id, { set: { status: 'canceled' } });
    };
    await expect(enter(id)).rejects.toThrow('cannot enter');
    delete aws.gate;
    expect(await holders()).toEqual([]);
  });

  it('keeps a slot that it took before its run could not be written, for the next attempt', async () => {
    const id = await open();
    // Read of the run, read and write of the slots, and the write of the run.
    aws.failCall(4, 'before');
    await expect(enter(id)).rejects.toThrow();
    expect(await holders()).toEqual([`${id}.plan`]);
    expect((await enter(id, 2)).slot).toBe('plan');
  });
});
