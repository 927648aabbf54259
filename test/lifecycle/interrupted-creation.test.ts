import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isFinal } from '#run/status.ts';
import { startAws } from '#test/support/aws.ts';
import { checkOrder } from '#test/support/queue-checks.ts';
import { type Action, QueueWorld, type Step } from '#test/support/queue-world.ts';
import { newRunOptions } from '#test/support/run.ts';
import { staggered, type Task } from '#test/support/staggered.ts';

/** The creation of a run, frozen or interrupted at each of its calls, while another run is created and completed. */

const aws = await startAws();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Entry, commit, run, three pointers, StartExecution; and one read that checks whether the creation is a repeat. */
const callsOfCreation = 8;
/** The queue, the lock, and the run that becomes current. */
const callsInFreeWorkspace = callsOfCreation + 3;
const create: Action = { do: 'create', kind: 'queued' };
const inOrder = (function* () {
  for (;;) yield 0;
})();

const explore = async (steps: Step[], check: (world: QueueWorld) => Promise<void>): Promise<void> => {
  const world = await QueueWorld.open(aws);
  try {
    await world.perform(steps, inOrder, async () => {});
    await check(world);
    checkOrder(world, await world.runs());
  } finally {
    await world.close();
  }
};

it('creating a run takes 6 writes and 1 StartExecution regardless of how many runs wait, and more only in a free workspace', async () => {
  const world = await QueueWorld.open(aws);
  for (let waiting = 0; waiting < 3; waiting++) {
    const before = aws.calls;
    await world.create('queued');
    expect(aws.calls - before).toBe(waiting ? callsOfCreation : callsInFreeWorkspace);
  }
  const before = aws.calls;
  await world.create('plan-only');
  expect(aws.calls - before, 'a plan-only run has no place in the queue').toBe(callsOfCreation - 1);
  await world.close();
});

it('the queue keeps its order without the sweep when a creation freezes for seconds', async () => {
  for (let n = 1; n <= callsInFreeWorkspace; n++) {
    const frozen: Step = { action: create, freeze: { n, tasks: 3 } };
    await explore(
      [frozen, { action: create }, { action: { do: 'rest' } }, { action: { do: 'nothing' } }],
      async (world) => {
        await world.settle(0);
        expect(world.effects, `frozen before call ${n}`).toHaveLength(2);
      },
    );
  }
});

it('the next run starts when a creation freezes for minutes, and the late creation is rejected', async () => {
  let refused = 0;
  for (let n = 1; n <= callsInFreeWorkspace; n++) {
    const frozen: Step = { action: create, freeze: { n, tasks: 6 } };
    const others: Action['do'][] = ['rest', 'wait', 'sweep', 'rest', 'nothing'];
    const steps = others.map((what): Step => ({ action: { do: what } as Action }));
    await explore([frozen, { action: create }, ...steps], async (world) => {
      const [first, second] = world.creations;
      if (world.effects.includes(second?.id ?? '') && !world.effects.includes(first?.id ?? '')) {
        const [back, next] = [await world.world.run(first?.id ?? ''), await world.world.run(second?.id ?? '')];
        const isBehind = !back || (back.place ?? 0) > (next?.place ?? 0);
        expect(isBehind, `frozen before call ${n}: created at a place that was voided`).toBe(true);
      }
      await world.settle(1);
      expect(world.effects, `frozen before call ${n}: the second run has started`).toContain(second?.id);
      const run = await world.world.run(first?.id ?? '');
      if (!run) refused++;
      expect(first?.ended !== undefined, `frozen before call ${n}: answered as created, and there`).toBe(
        run !== undefined,
      );
    });
  }
  expect(refused).toBeGreaterThan(0);
});

it.each(['before', 'after', 'late'] as const)(
  'the queue keeps its order when a creation is interrupted %s any call',
  async (when) => {
    const created = new Set<boolean>();
    for (let n = 1; n <= callsInFreeWorkspace; n++) {
      const steps: Step[] = [{ action: create, cut: { n, when } }, { action: create }, { action: { do: 'rest' } }];
      await explore(steps, async (world) => {
        const [first, second] = world.creations;
        await world.settle(2);
        const [run, next] = [await world.world.run(first?.id ?? ''), await world.world.run(second?.id ?? '')];
        created.add(run !== undefined);
        expect(next && isFinal(next.status), `cut off at call ${n}: the second run ends`).toBe(true);
        if (run) expect(world.effects, `cut off at call ${n}`).toEqual([first?.id, second?.id]);
        await world.sweep();
        expect(await world.entries(), `cut off at call ${n}`).toEqual([]);
      });
    }
    expect([...created].sort()).toEqual([false, true]);
  },
);

it('the queue keeps its order when an interrupted creation is repeated behind another run', async () => {
  for (let n = 1; n <= callsInFreeWorkspace; n++) {
    const again: Action = { do: 'create again', which: 0 };
    const actions: Action[] = [create, again, { do: 'rest' }];
    const steps: Step[] = [{ action: create, cut: { n, when: 'after' } }, ...actions.map((action) => ({ action }))];
    await explore(steps, async (world) => {
      await world.settle(2);
      expect(world.effects, `cut off after call ${n}`).toHaveLength(2);
      await world.sweep();
      expect(await world.entries(), `cut off after call ${n}`).toEqual([]);
    });
  }
});

it('a rejected creation releases its place at once and starts a run that waits behind it', async () => {
  const world = await QueueWorld.open(aws);
  const { store, workspaceId } = world.world;
  const { OutdatedCommitError } = await import('#lifecycle/creation/new-run.ts');
  const move = { repository: 'acme/network', follows: 'main', n: 1 };
  await store.update(store.keys.workspace(workspaceId), { set: { vcsFollows: 'main', vcsMoves: 2 } });
  const outdated = () => store.createRun(workspaceId, newRunOptions(), move);
  const steps: Task[] = [
    { freeze: { n: 2, tasks: 2 }, work: () => expect(outdated()).rejects.toThrow(OutdatedCommitError) },
    { work: () => world.create('queued').then(() => world.rest()) },
    { work: async () => {} },
  ];
  await staggered(aws, inOrder, steps, async () => {});
  await world.settle(0);
  expect(await world.entries()).toEqual([]);
  await world.close();
});
