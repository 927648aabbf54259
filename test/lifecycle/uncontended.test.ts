import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Run } from '../../functions/run/run.ts';
import type { Workspace } from '../../functions/workspaces/records.ts';
import { type Aws, startAws } from '../support/aws.ts';
import { interleave } from '../support/interleave.ts';
import { newRunOptions } from '../support/run.ts';

/** A run that no other waits for ends without looking for one; whoever comes meanwhile is started all the same. */

let aws: Aws;
let store: Awaited<ReturnType<typeof load>>;
const load = async () => ({
  ...(await import('../../functions/runs/records.ts')),
  ...(await import('../../functions/orchestration/new-run.ts')),
  ...(await import('../../functions/orchestration/queue.ts')),
  ...(await import('../../functions/orchestration/turns.ts')),
  ...(await import('../../functions/orchestration/finish.ts')),
  ...(await import('../../functions/store/table.ts')),
  ...(await import('../../functions/store/keys.ts')),
  pending: (await import('../../functions/lifecycle/pending.ts')).handler,
});
beforeAll(async () => {
  aws = await startAws();
  store = await load();
});
afterAll(() => aws.close());

let count = 0;

const openWorkspace = async (): Promise<string> => {
  const id = `ws-${String(++count).padStart(16, '0')}`;
  await store.create({ ...store.keys.workspace(id), id, organization: 'acme', name: 'w', runCount: 0 });
  return id;
};

const newRun = (workspaceId: string): Promise<Run> =>
  store.createRun(workspaceId, newRunOptions({ id: `run-${String(++count).padStart(16, '0')}` }));

class NotItsTurn extends Error {}

/** As the machine does: into the queue's first place, or to wait for it. */
const enter = async ({ id }: Run): Promise<'PlanQueued' | 'Pending'> => {
  const attempt = { token: `${id}/1` };
  const look = async (run: Run) => {
    if (store.awaitsTurn(run)) throw new NotItsTurn();
  };
  try {
    await store.enterInTurn(id, 'PlanQueued', attempt, { look });
    return 'PlanQueued';
  } catch (error) {
    if (!(error instanceof NotItsTurn)) throw error;
    await store.pending({ runId: id, ...attempt });
    return 'Pending';
  }
};

const lockOf = async (workspaceId: string) => (await store.get<Workspace>(store.keys.workspace(workspaceId)))?.lock;

it('reads the queue once when it starts, and not when it ends', async () => {
  const workspaceId = await openWorkspace();
  const run = await newRun(workspaceId);
  await enter(run);
  expect(await lockOf(workspaceId)).toMatchObject({ kind: 'run', runId: run.id, alone: true });
  const before = aws.calls;
  await store.leaveQueue(run);
  expect(aws.calls - before).toBe(3);
  expect(await lockOf(workspaceId)).toBeUndefined();
});

it('is not marked alone while another run is queued', async () => {
  const workspaceId = await openWorkspace();
  const [first, second] = [await newRun(workspaceId), await newRun(workspaceId)];
  await enter(first);
  expect(await lockOf(workspaceId)).not.toHaveProperty('alone');
  await enter(second);
  await store.finishRun(first.id, 'Canceled');
  expect(await lockOf(workspaceId)).toMatchObject({ runId: second.id });
});

it('notices a run that was moved to the front of the queue', async () => {
  const workspaceId = await openWorkspace();
  const first = await newRun(workspaceId);
  await enter(first);
  const second = await newRun(workspaceId);
  expect(await store.moveToFront(second)).toBe(true);
  await enter((await store.getRun(second.id)) as Run);
  expect(await lockOf(workspaceId)).not.toHaveProperty('alone');
  await store.finishRun(first.id, 'Canceled');
  expect(await lockOf(workspaceId)).toMatchObject({ runId: second.id });
});

it('starts a run that is queued while it ends, in every explored order of their calls', async () => {
  const ends = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.nat()),
      fc.constantFrom('created', 'waiting', 'moved' as const),
      async (choices, isThere) => {
        const workspaceId = await openWorkspace();
        const first = await newRun(workspaceId);
        await enter(first);
        let waited: string | undefined;
        let second = isThere === 'created' ? undefined : await newRun(workspaceId);
        if (second && isThere === 'moved') await store.moveToFront(second);
        const come = async () => {
          second ??= await newRun(workspaceId);
          waited = await enter(second);
        };
        const before = aws.calls;
        await interleave(aws, choices, () => [store.finishRun(first.id, 'Canceled'), come()]);
        ends.add(aws.calls - before);
        // Nothing else comes that would start it.
        expect((await store.getRun(second?.id ?? ''))?.current).toBe(true);
        expect(await lockOf(workspaceId)).toMatchObject({ runId: second?.id });
        if (waited === 'PlanQueued') return;
        const told = aws.sent.filter(({ input }) => input.taskToken === `${second?.id}/1`);
        expect(told.map(({ action }) => action)).toContain('SendTaskSuccess');
      },
    ),
    { numRuns: Number(process.env.QUEUE_RUNS ?? 60) },
  );
  // The orders differ in what they lead to.
  expect(ends.size).toBeGreaterThan(2);
}, 180_000);
