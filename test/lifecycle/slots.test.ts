import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Run } from '#run/run.ts';
import { awaitedSlot } from '#run/slots.ts';
import { type Aws, startAws } from '#test/support/aws.ts';
import { type SlotAction, type SlotStep, SlotWorld } from '#test/support/slot-world.ts';

/**
 * Slots of runners under random interleavings of everything that takes or returns them, each interrupted at a random
 * call to AWS.
 *
 * Safety: never more runs with a container than the limits allow. Progress: without interruptions no run needs the
 * sweep; with interruptions and lost events, a few sweeps end all runs, and no slot is left.
 */

let aws: Aws;
beforeAll(async () => {
  aws = await startAws();
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  aws.stale = false;
  process.env.MAX_RUNNERS = '';
  vi.useRealTimers();
  vi.restoreAllMocks();
});
afterAll(() => aws.close());

const limit = (limits: object | undefined): void => {
  process.env.MAX_RUNNERS = limits ? JSON.stringify(limits) : '';
};

const checkLimits = async (world: SlotWorld, limits: { platform: number; organization: number }): Promise<void> => {
  const containers = await world.containers();
  const runs = new Set(containers.map(({ run }) => run.id));
  expect(runs.size, `more runners than allowed\n${world.story()}`).toBeLessThanOrEqual(limits.platform);
  for (const organization of world.organizations) {
    const own = new Set(containers.filter(({ run }) => run.organization === organization).map(({ run }) => run.id));
    expect(own.size, `more runners of ${organization} than allowed\n${world.story()}`).toBeLessThanOrEqual(
      limits.organization,
    );
  }
};

const checkEmpty = async (world: SlotWorld): Promise<void> => {
  const { held, waiting } = (await world.slots()) ?? { held: {}, waiting: [] };
  expect({ held, waiting }, world.story()).toEqual({ held: {}, waiting: [] });
  for (const organization of world.organizations)
    expect(await world.waits(organization), `entries without a run that waits\n${world.story()}`).toEqual([]);
};

const which = fc.nat(12);
const create = fc.record({
  do: fc.constant('create' as const),
  organization: fc.constantFrom(0, 0, 0, 1, 2),
  kind: fc.constantFrom('plan-only' as const, 'confirmed' as const, 'automatic' as const),
});
const action: fc.Arbitrary<SlotAction> = fc.oneof(
  { weight: 4, arbitrary: create },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('step' as const), which }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constantFrom('runner' as const, 'exit' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('confirm' as const, 'cancel' as const, 'discard' as const, 'kill' as const),
      which,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop execution' as const), which }) },
);
const disturbance: fc.Arbitrary<SlotAction> = fc.oneof(
  fc.constant({ do: 'sweep' as const }),
  fc.record({ do: fc.constant('exit unnoticed' as const), which }),
);
const n = fc.integer({ min: 1, max: 12 });
const freeze = fc.option(fc.record({ n, tasks: fc.integer({ min: 1, max: 9 }) }), { nil: undefined, freq: 2 });
const cut = fc.option(fc.record({ n, when: fc.constantFrom('before' as const, 'after' as const, 'late' as const) }), {
  nil: undefined,
  freq: 5,
});
const calm: fc.Arbitrary<SlotStep> = fc.record({ action, freeze });
const disturbed: fc.Arbitrary<SlotStep> = fc.record({
  action: fc.oneof({ weight: 9, arbitrary: action }, { weight: 1, arbitrary: disturbance }),
  freeze,
  cut,
});

const exploreAll = (step: fc.Arbitrary<SlotStep>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.nat()),
      // Runs that are about to ask for a slot, so that many do at once.
      fc.array(create, { maxLength: 8 }),
      fc.array(step, { minLength: 10, maxLength: 50 }),
      fc.record({ platform: fc.integer({ min: 1, max: 3 }), organization: fc.integer({ min: 1, max: 3 }) }),
      fc.boolean(),
      async (choices, first, steps, limits, stale) => {
        limit(limits);
        const world = await SlotWorld.open(aws, 3);
        aws.stale = stale;
        try {
          for (const { organization, kind } of first)
            await world.create(world.organizations[organization] as string, kind);
          await world.perform(steps, choices, () => checkLimits(world, limits));
          await world.settle(world.disturbed ? 6 : 0);
          await checkLimits(world, limits);
          if (world.disturbed) await world.sweep();
          await checkEmpty(world);
        } finally {
          aws.stale = false;
          await world.close();
        }
      },
    ),
    {
      numRuns: Number(process.env.QUEUE_RUNS ?? 15),
      endOnFailure: process.env.QUEUE_SHRINK === undefined,
      ...(process.env.QUEUE_SEED ? { seed: Number(process.env.QUEUE_SEED) } : {}),
    },
  );

describe('slots of runners in any order of events', () => {
  it('limit the runners, and are returned and given without the sweep if no function is interrupted', async () => {
    await exploreAll(calm);
  }, 240_000);

  it('limit the runners, and are returned and given when functions are interrupted at any call, or events are lost', async () => {
    await exploreAll(disturbed);
  }, 240_000);
});

describe('a run that waits for a slot', () => {
  const waiting = async (world: SlotWorld): Promise<Run[]> => (await world.runs()).filter((run) => awaitedSlot(run));
  const open = async (count = 2) => {
    limit({ platform: 1 });
    const world = await SlotWorld.open(aws, count);
    const [acme = '', beta = ''] = world.organizations;
    return { world, acme, beta };
  };
  const step = async (world: SlotWorld, id: string): Promise<void> => {
    const execution = world.world.executions.get(id);
    while (execution?.ready.length) await execution.step(0);
    world.world.listen();
  };

  it('can be canceled and discarded, and leaves nothing behind', async () => {
    const { world, acme } = await open();
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await world.create(acme, 'confirmed'));
    for (const id of ids) await step(world, id);
    const [second, third] = (await waiting(world)) as [Run, Run];
    expect([second.status, second.wait?.state]).toEqual(['plan_queued', 'PlanAwaitingSlot']);
    const { store } = world.world;
    expect(await store.decide(second, 'discard', 'user-1')).toBe('accepted');
    expect(await store.decide(third, 'cancel', 'user-1')).toBe('accepted');
    world.world.listen();
    for (const id of ids) await step(world, id);
    expect((await world.runs()).map(({ status }) => status)).toEqual(['plan_queued', 'discarded', 'canceled']);
    expect(await world.waits(acme)).toEqual([]);
    await world.settle(0);
    await checkEmpty(world);
    await world.close();
  });

  it('whose runner is about to start cannot be discarded', async () => {
    const { world, acme } = await open();
    const id = await world.create(acme, 'confirmed');
    await step(world, id);
    const run = (await world.world.run(id)) as Run;
    expect([run.status, run.slot]).toEqual(['plan_queued', 'plan']);
    expect(await world.world.store.decide(run, 'discard', 'user-1')).toBe('conflict');
    await world.settle(0);
    await world.close();
  });

  it('starts when the setting is removed', async () => {
    const { world, acme } = await open();
    for (let i = 0; i < 2; i++) await step(world, await world.create(acme, 'plan-only'));
    expect(await waiting(world)).toHaveLength(1);
    limit(undefined);
    await world.sweep();
    await world.rest();
    expect((await world.runs()).map(({ status }) => status)).toEqual(['planned_and_finished', 'planned_and_finished']);
    await world.close();
  });

  it('waits while ECS has no capacity for the run with the slot, and both begin when there is some', async () => {
    const { world, acme, beta } = await open();
    aws.refusal = { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time.' }] };
    const [first, second] = [await world.create(acme, 'plan-only'), await world.create(beta, 'plan-only')];
    const execution = world.world.executions.get(first);
    for (let i = 0; i < 5; i++) await execution?.step(0);
    expect(execution?.ready, 'the machine retries').toEqual(['PlanQueued']);
    await step(world, second);
    expect((await waiting(world)).map(({ id }) => id)).toEqual([second]);
    aws.refusal = undefined;
    vi.setSystemTime(Date.now() + 120_000);
    await world.settle(0);
    expect((await world.runs()).map(({ status }) => status)).toEqual(['planned_and_finished', 'planned_and_finished']);
    await checkEmpty(world);
    await world.close();
  });

  it('gets the slot of a plan whose runner is only ready for a confirmation', async () => {
    const { world, acme, beta } = await open();
    world.world.readySeconds = 120;
    const { store } = world.world;
    const key = 'the key of the first runner';
    const first = await world.create(acme, 'confirmed');
    await step(world, first);
    await world.world.runner((await world.world.run(first)) as Run, 'finished', true);
    await step(world, first);
    const planning = (await world.world.run(first)) as Run;
    process.env.READY_SECONDS = '120';
    const reported = await store.reportPhase(
      planning,
      'plan',
      { outcome: 'finished', hasChanges: true },
      store.hashSecret(key),
    );
    world.world.listen();
    await step(world, first);
    expect(reported?.plan.ready).toBeDefined();
    const poll = () => store.answerReady(`${first}.apply`, key);
    expect(await poll(), 'no run waits').toMatchObject({ action: 'wait' });
    await step(world, await world.create(beta, 'plan-only'));
    expect(await poll(), 'another organization waits').toEqual({ action: 'exit' });
    expect((await world.world.run(first))?.plan.ready).toBeUndefined();
    await world.exit(0);
    world.world.listen();
    expect(await waiting(world)).toEqual([]);
    await world.settle(0);
    await checkEmpty(world);
    await world.close();
  });

  it('costs the same number of requests behind 3 runs as behind 30', async () => {
    const { world, acme } = await open();
    const returned = async (count: number): Promise<number> => {
      while ((await world.waits(acme)).length < count) await step(world, await world.create(acme, 'plan-only'));
      const held = (await world.runs()).find(({ slot, status }) => slot === 'plan' && status === 'plan_queued') as Run;
      await world.world.runner(held, 'finished', false);
      await step(world, held.id);
      await world.world.runner((await world.world.run(held.id)) as Run, 'finished', false);
      world.world.listen();
      await step(world, held.id);
      const before = aws.calls;
      await world.exit(0);
      const calls = aws.calls - before;
      world.world.listen();
      for (const run of await world.runs()) await step(world, run.id);
      // Without the reads of this test, which looks for a container that may stop.
      return calls - (await world.runs()).length;
    };
    const few = await returned(3);
    expect(await returned(30)).toBe(few);
    await world.close();
  });
});
