import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { startAws } from '#test/support/aws.ts';
import { interleave } from '#test/support/interleave.ts';
import { newRunOptions } from '#test/support/run.ts';

/** An uncontended run ends without reading the queue; a run that is queued meanwhile still starts. */

const aws = await startAws();
const store = {
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/creation/new-run.ts')),
  ...(await import('#lifecycle/queue/queue.ts')),
  ...(await import('#lifecycle/phases/progress.ts')),
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  pending: (await import('#lifecycle/states/pending.ts')).handler,
  confirmed: (await import('#lifecycle/states/confirmed.ts')).handler,
};

let count = 0;

const openWorkspace = async (): Promise<string> => {
  const id = `ws-${String(++count).padStart(16, '0')}`;
  await store.create({ ...store.keys.workspace(id), id, organization: 'acme', name: 'w', runCount: 0 });
  return id;
};

const newRun = (workspaceId: string, savePlan = false): Promise<Run> =>
  store.createRun(workspaceId, newRunOptions({ id: `run-${String(++count).padStart(16, '0')}`, savePlan }));

/** A saved plan, which now joins the queue. */
const confirm = ({ id }: Run) =>
  store.updateRun(id, { set: { status: 'confirmed', decision: { action: 'apply', by: 'user-1', at: '' } } });

/** Does the machine's next step: the plan of a run that became current when it was created, or Pending. */
const enter = async ({ id }: Run): Promise<'PlanQueued' | 'Pending'> => {
  const attempt = { token: `${id}/1` };
  if ((await store.getRun(id))?.current) {
    await store.enterState(id, 'PlanQueued', attempt);
    return 'PlanQueued';
  }
  await store.pending({ runId: id, ...attempt });
  return 'Pending';
};

const lockOf = async (workspaceId: string) => (await store.get<Workspace>(store.keys.workspace(workspaceId)))?.lock;

it('an uncontended run reads the queue when it starts, but not when it ends', async () => {
  const workspaceId = await openWorkspace();
  const run = await newRun(workspaceId);
  await enter(run);
  expect(await lockOf(workspaceId)).toMatchObject({ kind: 'run', runId: run.id, uncontended: true });
  const before = aws.calls;
  await store.leaveQueue(run);
  expect(aws.calls - before).toBe(3);
  expect(await lockOf(workspaceId)).toBeUndefined();
});

it('a run is not marked uncontended while another run is queued', async () => {
  const workspaceId = await openWorkspace();
  const key = store.keys.workspace(workspaceId);
  await store.update(key, { set: { lock: { kind: 'user', userId: 'user-1', reason: '', at: '' } } });
  const [first, second] = [await newRun(workspaceId), await newRun(workspaceId)];
  await store.update(key, { remove: ['lock'] });
  await store.enqueue(first);
  expect(await lockOf(workspaceId)).toMatchObject({ kind: 'run', runId: first.id });
  expect(await lockOf(workspaceId)).not.toHaveProperty('uncontended');
  await enter(second);
  await store.finishRun(first.id, 'Canceled');
  expect(await lockOf(workspaceId)).toMatchObject({ runId: second.id });
});

it('a run that was moved to the front of the queue starts after an uncontended run', async () => {
  const workspaceId = await openWorkspace();
  const first = await newRun(workspaceId);
  await enter(first);
  const second = await newRun(workspaceId);
  expect(await store.moveToFront(second)).toBe(true);
  await enter((await store.getRun(second.id)) as Run);
  expect(await lockOf(workspaceId)).not.toHaveProperty('uncontended');
  await store.finishRun(first.id, 'Canceled');
  expect(await lockOf(workspaceId)).toMatchObject({ runId: second.id });
});

it('a run that is queued while an uncontended one ends starts in every explored order of their calls', async () => {
  const ends = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.nat()),
      fc.constantFrom('created', 'waiting', 'moved', 'confirmed' as const),
      async (choices, isThere) => {
        const workspaceId = await openWorkspace();
        const first = await newRun(workspaceId);
        await enter(first);
        let waited: string | undefined;
        let second = isThere === 'created' ? undefined : await newRun(workspaceId, isThere === 'confirmed');
        if (second && isThere === 'moved') await store.moveToFront(second);
        if (second && isThere === 'confirmed') await confirm(second);
        const come = async () => {
          second ??= await newRun(workspaceId);
          if (isThere === 'confirmed') await store.confirmed({ runId: second.id, token: `${second.id}/1` });
          else waited = await enter(second);
        };
        const before = aws.calls;
        await interleave(aws, choices, () => [store.finishRun(first.id, 'Canceled'), come()]);
        ends.add(aws.calls - before);
        // No other event would start it.
        expect((await store.getRun(second?.id ?? ''))?.current, `the ${isThere} run starts`).toBe(true);
        expect(await lockOf(workspaceId)).toMatchObject({ runId: second?.id });
        if (waited === 'PlanQueued') return;
        const told = aws.sent.filter(({ input }) => input.taskToken === `${second?.id}/1`);
        expect(told, `the waiting ${isThere} run is resumed`).toContainEqual(
          expect.objectContaining({ action: 'SendTaskSuccess' }),
        );
      },
    ),
    { numRuns: Number(process.env.QUEUE_RUNS ?? 60) },
  );
  // The orders have different outcomes.
  expect(ends.size).toBeGreaterThan(2);
}, 180_000);
