import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Aws, startAws } from '../support/aws.ts';
import { interleave } from '../support/interleave.ts';
import { newRunOptions } from '../support/run.ts';

/**
 * The queue under random interleavings of everything that touches it, each cut off at a random call to AWS, before or
 * after the call took effect. What was cut off is done again later, as Step Functions and the sweep do.
 */

let aws: Aws;
let store: Awaited<ReturnType<typeof load>>;
const load = async () => ({
  ...(await import('../../functions/runs/records.ts')),
  ...(await import('../../functions/orchestration/new-run.ts')),
  ...(await import('../../functions/orchestration/decisions.ts')),
  ...(await import('../../functions/orchestration/queue.ts')),
  ...(await import('../../functions/orchestration/finish.ts')),
  ...(await import('../../functions/store/table.ts')),
  ...(await import('../../functions/store/keys.ts')),
  ...(await import('../../functions/store/due.ts')),
  ...(await import('../../functions/run/status.ts')),
  pending: (await import('../../functions/lifecycle/pending.ts')).handler,
});

beforeAll(async () => {
  aws = await startAws();
  store = await load();
});
afterAll(() => aws.close());

interface Known {
  id: string;
  number: number;
  /** The execution has been started, and where it stands. */
  at?: 'Pending' | 'running' | 'finisher' | 'done';
  planOnly: boolean;
}

type Step =
  | { do: 'create'; planOnly: boolean }
  | { do: 'pending' | 'finish' | 'discard' | 'cancel'; which: number }
  | { do: 'lock' | 'unlock' };

interface Cut {
  after: number;
  when: 'before' | 'after';
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), planOnly: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('pending' as const, 'finish' as const), which: fc.nat(20) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('discard' as const, 'cancel' as const), which: fc.nat(20) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('lock' as const, 'unlock' as const) }) },
);
const cut: fc.Arbitrary<Cut | undefined> = fc.option(
  fc.record({ after: fc.integer({ min: 1, max: 9 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined, freq: 2 },
);

let workspaces = 0;

class World {
  readonly workspaceId = `ws-${String(++workspaces).padStart(16, '0')}`;
  readonly runs: Known[] = [];
  readonly started: Known[] = [];
  /** Work that was cut off and will be done again. */
  redo: (() => Promise<void>)[] = [];
  /** A call of the present steps will fail. */
  cutting = false;
  #tokens = 0;

  async open() {
    await store.create({
      ...store.keys.workspace(this.workspaceId),
      id: this.workspaceId,
      organization: 'acme',
      name: 'w',
      runCount: 0,
    });
  }

  /** Does something with a cut; what was cut off is queued to be done again. */
  async attempt(what: () => Promise<void>, cut?: Cut) {
    const sentBefore = aws.sent.length;
    if (cut) aws.failCall(cut.after, cut.when);
    this.cutting ||= !!cut;
    try {
      await what();
    } catch (error) {
      if (!this.cutting) throw error;
      this.redo.push(what);
    }
    for (const { action, input } of aws.sent.slice(sentBefore)) this.hear(action, input);
  }

  hear(action: string, input: Record<string, string>) {
    if (action === 'StartExecution') {
      const run = this.runs.find(({ id }) => id === input.name);
      if (run && !run.at) run.at = 'Pending';
      return;
    }
    const run = this.runs.find(({ id }) => input.taskToken?.startsWith(`${id}/`));
    if (run?.at !== 'Pending') return;
    run.at = action === 'SendTaskSuccess' ? 'running' : 'finisher';
    if (run.at === 'running' && !run.planOnly) this.started.push(run);
  }

  async create(planOnly: boolean, cut?: Cut) {
    const id = `run-${String(this.runs.length).padStart(4, '0')}${this.workspaceId.slice(-12)}`;
    const queuedRun: Known = { id, number: 0, planOnly };
    this.runs.push(queuedRun);
    const options = newRunOptions({ id, planOnly });
    let first = true;
    await this.attempt(async () => {
      const run = await store.getRun(id);
      // The caller of the API hears of an error and the run exists or does not; the sweep completes one that does.
      if (run) {
        await store.enqueue(run);
        queuedRun.number = run.number;
      } else if (first) {
        first = false;
        queuedRun.number = (await store.createRun(this.workspaceId, options)).number;
      } else this.runs.splice(this.runs.indexOf(queuedRun), 1);
    }, cut);
  }

  pending(run: Known, cut?: Cut) {
    return this.attempt(async () => {
      if (run.at === 'Pending') await store.pending({ runId: run.id, token: `${run.id}/${++this.#tokens}` });
    }, cut);
  }

  finish(run: Known, cut?: Cut) {
    const ending = run.at === 'running' ? 'PlanErrored' : 'Canceled';
    return this.attempt(async () => {
      if (run.at !== 'running' && run.at !== 'finisher') return;
      await store.finishRun(run.id, ending);
      run.at = 'done';
    }, cut);
  }

  async decide(action: 'discard' | 'cancel', run: Known, cut?: Cut) {
    await this.attempt(async () => {
      const item = await store.getRun(run.id);
      if (item?.status === 'pending') await store[action === 'discard' ? 'discardRun' : 'cancelRun'](item, 'user-1');
      // Recorded but not delivered: the sweep delivers it.
      const after = await store.getRun(run.id);
      if (after) await (await import('../../functions/orchestration/execution.ts')).deliver(after);
    }, cut);
  }

  /** Whoever is told that a lock failed does not try again after an unlock. */
  async lock(cut?: Cut) {
    let isRequested = false;
    await this.attempt(async () => {
      if (isRequested) return;
      isRequested = true;
      await store.update(store.keys.workspace(this.workspaceId), {
        set: { lock: { kind: 'user', userId: 'user-1' } },
        condition: 'attribute_not_exists(#l)',
        names: { '#l': 'lock' },
      });
    }, cut);
  }

  async unlock(cut?: Cut) {
    await this.attempt(async () => {
      await store.update(store.keys.workspace(this.workspaceId), {
        remove: ['lock'],
        set: store.startDue(this.workspaceId),
        condition: '#l.kind = :user',
        names: { '#l': 'lock' },
        values: { ':user': 'user' },
      });
      await store.startNext(this.workspaceId);
    }, cut);
  }

  async take(what: Step, where?: Cut) {
    if (what.do === 'create') return this.create(what.planOnly, where);
    if (what.do === 'unlock') return this.unlock(where);
    if (what.do === 'lock') return this.lock(where);
    if (!('which' in what)) return;
    const run = this.runs[what.which % this.runs.length];
    if (!run) return;
    if (what.do === 'pending') return this.pending(run, where);
    if (what.do === 'finish') return this.finish(run, where);
    return this.decide(what.do, run, where);
  }

  async endGroup() {
    aws.failCall(0, 'before');
    this.cutting = false;
    await this.check();
  }

  /** At most one run of the queue is past pending and not final. */
  async check() {
    const runs = await Promise.all(this.runs.map(({ id }) => store.getRun(id)));
    for (const run of this.runs) run.number = runs.find((item) => item?.id === run.id)?.number ?? run.number;
    const current = runs.filter((run) => run?.current && !store.isFinal(run.status));
    expect(current.length, `current: ${current.map((run) => run?.id)}`).toBeLessThanOrEqual(1);
  }

  async redoAll() {
    this.cutting = false;
    const again = this.redo;
    this.redo = [];
    for (const what of again) await this.attempt(what);
  }

  async settle() {
    await this.unlock();
    for (let turn = 0; this.runs.some(({ at }) => at !== 'done'); turn++) {
      if (turn > this.runs.length + 3) throw new Error(`stuck: ${JSON.stringify(this.runs)}`);
      await this.redoAll();
      for (const run of [...this.runs]) await this.pending(run);
      for (const run of [...this.runs]) await this.finish(run);
    }
    await this.redoAll();
  }
}

/** Steps at the same time, of which at most one creates: the order of runs created at once is nobody's promise. */
const together = fc
  .array(step, { minLength: 1, maxLength: 3 })
  .filter((steps) => steps.filter(({ do: what }) => what === 'create').length <= 1);

it('starts each run once, in order and one at a time, under concurrency and crashes', async () => {
  let steps = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.infiniteStream(fc.nat()),
      fc.array(fc.tuple(together, cut), { minLength: 4, maxLength: 20 }),
      async (choices, script) => {
        const world = new World();
        await world.open();
        for (const [group, where] of script) {
          steps += group.length;
          await world.redoAll();
          await interleave(aws, choices, () => group.map((what, i) => world.take(what, i === 0 ? where : undefined)));
          await world.endGroup();
        }
        await world.settle();
        for (const { id } of world.runs) {
          const run = await store.getRun(id);
          expect(run && store.isFinal(run.status), `${id} is ${run?.status}`).toBe(true);
        }
        const order = world.started.map(({ number }) => number);
        expect(order, 'order of starts').toEqual([...order].sort((a, b) => a - b));
        expect(await store.query({ pk: store.keys.workspace(world.workspaceId).pk, prefix: 'QUEUE#' })).toEqual([]);
        expect(await store.get(store.keys.workspace(world.workspaceId))).not.toHaveProperty('lock');
      },
    ),
    { numRuns: Number(process.env.QUEUE_RUNS ?? 40) },
  );
  console.log(`${steps} steps, ${aws.calls} calls to AWS`);
}, 180_000);

it('costs the same calls whether 1 or 100 runs wait', async () => {
  const cost = async (waiting: number) => {
    const world = new World();
    await world.open();
    for (let i = 0; i <= waiting; i++) await world.create(false);
    await world.pending(world.runs[0] as Known);
    await world.pending(world.runs[1] as Known);
    const before = aws.calls;
    await world.create(false);
    await world.finish(world.runs[0] as Known);
    return aws.calls - before;
  };
  expect(await cost(100)).toBe(await cost(1));
}, 60_000);
