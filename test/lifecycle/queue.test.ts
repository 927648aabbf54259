import fc from 'fast-check';
import { afterEach, beforeEach, it, vi } from 'vitest';
import { startAws } from '#test/support/aws.ts';
import { checkEmpty, checkNow, checkOrder, checkPlaces } from '#test/support/queue-checks.ts';
import { type Action, QueueWorld, type Step } from '#test/support/queue-world.ts';

/**
 * The queue under random interleavings of all operations on it, each interrupted at a random call to AWS: before the
 * call takes effect, after it has, or with a call that takes effect much later.
 *
 * Safety: runs have their first effects in the order of their places, one run at a time, and no place precedes one of
 * an earlier request. Progress: without interruptions no run needs the sweep; with interruptions, a few sweeps end
 * all runs.
 */

const aws = await startAws();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => {
  aws.stale = false;
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const which = fc.oneof(fc.constantFrom(0, 1), fc.nat(20));
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('create' as const), kind: fc.constant('queued' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      kind: fc.constantFrom('saved' as const, 'plan-only' as const),
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('step' as const), which }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('runner' as const, 'apply' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'discard' as const,
        'cancel' as const,
        'time out' as const,
        'force-execute' as const,
        'create again' as const,
      ),
      which,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('lock' as const, 'unlock' as const) }) },
);
const disturbance: fc.Arbitrary<Action> = fc.record({ do: fc.constantFrom('sweep' as const, 'wait' as const) });
const n = fc.integer({ min: 1, max: 12 });
const freeze = fc.option(fc.record({ n, tasks: fc.integer({ min: 1, max: 9 }) }), { nil: undefined, freq: 2 });
const cut = fc.option(fc.record({ n, when: fc.constantFrom('before' as const, 'after' as const, 'late' as const) }), {
  nil: undefined,
  freq: 5,
});
/** The calls of a creation. Other runs must not overtake it at any of them. */
const creation: fc.Arbitrary<Step> = fc.record({
  action: fc.constant<Action>({ do: 'create', kind: 'queued' }),
  freeze: fc.record({ n: fc.integer({ min: 1, max: 4 }), tasks: fc.integer({ min: 2, max: 9 }) }),
});
const calm: fc.Arbitrary<Step> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ action, freeze }) },
  { weight: 1, arbitrary: creation },
);
const disturbed: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      action: fc.oneof({ weight: 9, arbitrary: action }, { weight: 1, arbitrary: disturbance }),
      freeze,
      cut,
    }),
  },
  { weight: 1, arbitrary: creation },
);

/** At the end: the queue works, and contains no leftover entries. */
const checkAfter = async (world: QueueWorld): Promise<void> => {
  await world.wait(61);
  await world.create('queued');
  await world.settle(0);
  await checkEmpty(world);
};

const explore = async (steps: Step[], choices: Iterator<number>): Promise<void> => {
  const world = await QueueWorld.open(aws);
  try {
    await world.perform(steps, choices, () => checkNow(world));
    const isCalm = !world.disturbed;
    await world.settle(isCalm ? 0 : 5);
    if (isCalm) await checkEmpty(world);
    const runs = await world.runs();
    checkOrder(world, runs);
    checkPlaces(world, runs);
    await checkAfter(world);
    checkOrder(world, await world.runs());
  } finally {
    await world.close();
  }
};

const exploreAll = (step: fc.Arbitrary<Step>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.nat()),
      fc.array(step, { minLength: 8, maxLength: 40 }),
      // Half of the runs have stale reads where DynamoDB allows them.
      fc.boolean(),
      (choices, steps, stale) => {
        aws.stale = stale;
        return explore(steps, choices);
      },
    ),
    {
      numRuns: Number(process.env.QUEUE_RUNS ?? 30),
      endOnFailure: process.env.QUEUE_SHRINK === undefined,
      ...(process.env.QUEUE_SEED ? { seed: Number(process.env.QUEUE_SEED) } : {}),
    },
  );

it('the queue starts each run once, in order and one at a time, without the sweep if no function is interrupted', async () => {
  await exploreAll(calm);
}, 120_000);

it('the queue keeps its order and ends every run when functions are interrupted at any call, or freeze for minutes', async () => {
  await exploreAll(disturbed);
}, 120_000);
