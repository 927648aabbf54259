import { describe, expect, it, vi } from 'vitest';
import type { Key } from '#platform/store/keys.ts';
import type { TaskResult } from '#resources/run-tasks/results.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { type Failing, startAws } from '#test/support/aws.ts';
import { ExecutionError } from '#test/support/executor.ts';
import { LifecycleWorld } from '#test/support/lifecycle-world.ts';
import { newRunOptions } from '#test/support/run.ts';

/**
 * Every function of a run's lifecycle, interrupted at each of its calls to AWS in turn: after the call took effect,
 * with its response lost, which also covers an interruption before the next call; or with a call that takes effect
 * much later. The machine or a client then retries the function. If no caller retries it, only the sweep runs.
 */

const aws = await startAws();
vi.spyOn(console, 'warn').mockImplementation(() => {});
vi.spyOn(console, 'error').mockImplementation(() => {});

const failings: readonly Failing[] = ['after', 'late'];
/** Retries of a state's function by the machine (infra/stack/state-builders.ts). */
const maxRetries = 6;
const maxTurns = 60;

let ids = 0;
const newId = () => `run-${String(++ids).padStart(16, '0')}`;

const create = async (world: LifecycleWorld, id = newId(), autoApply = false): Promise<string> => {
  const { organization, workspaceId, store } = world;
  const { stages } = await store.freezeTaskStages({ runId: id, organization, workspaceId, planOnly: false });
  const checks = Object.keys(stages).length ? { checks: { tasks: stages } } : {};
  await store.createRun(workspaceId, newRunOptions({ id, autoApply, ...checks }));
  world.listen();
  return id;
};

const runOf = async (world: LifecycleWorld, id: string): Promise<Run> => (await world.run(id)) as Run;

/** An action on a run from outside of its execution: when it is possible, and how the run shows that it was done. */
interface AuditAction {
  when: (run: Run) => boolean;
  act: (world: LifecycleWorld, run: Run) => Promise<unknown>;
  isDone: (run: Run) => boolean;
}

const deeds = {
  'the claim of a plan': {
    when: ({ wait, plan }) => wait?.state === 'PlanQueued' && !!plan.taskId,
    act: (world, run) => world.runner(run, 'finished', true),
    isDone: ({ plan }) => plan.claimNonce !== undefined,
  },
  'the report of a plan': {
    when: ({ wait }) => wait?.state === 'Planning',
    act: (world, run) => world.runner(run, 'finished', true),
    isDone: ({ plan }) => plan.report !== undefined,
  },
  'a confirmation': {
    when: ({ wait }) => wait?.state === 'NeedsConfirmation',
    act: (world, run) => world.store.decide(run, 'apply', 'user-1'),
    isDone: ({ decision }) => decision !== undefined,
  },
  'the claim of an apply': {
    when: ({ wait, apply }) => wait?.state === 'ApplyQueued' && !!apply.taskId,
    act: (world, run) => world.runner(run, 'finished', true),
    isDone: ({ apply }) => apply.claimNonce !== undefined,
  },
  'the report of an apply': {
    when: ({ wait }) => wait?.state === 'Applying',
    act: (world, run) => world.runner(run, 'finished', true),
    isDone: ({ apply }) => apply.report !== undefined,
  },
} satisfies Record<string, AuditAction>;

const step = async (world: LifecycleWorld, id: string): Promise<void> => {
  const execution = world.executions.get(id);
  while (execution?.ready.length) await execution.step(0);
};

/** Machine, runner and user do their next steps until the run is in the state. */
const bring = async (world: LifecycleWorld, id: string, there: (run: Run) => boolean): Promise<Run> => {
  for (let turn = 0; turn < maxTurns; turn++) {
    await step(world, id);
    const run = await runOf(world, id);
    if (there(run)) return run;
    await world.callBack(run, 0, 'passed');
    for (const deed of Object.values(deeds)) {
      if (!deed.when(run)) continue;
      await deed.act(world, run);
      world.listen();
      break;
    }
    world.listen();
    if (turn % 5 === 4) await world.sweep(id);
  }
  const run = await runOf(world, id);
  const execution = world.executions.get(id);
  throw new Error(`${id} is ${run.status} and stays so; ready ${execution?.ready}, waiting ${execution?.waiting}`);
};

const over = ({ status }: Run): boolean => isFinal(status);

interface Cut {
  cut: boolean;
  value?: unknown;
}

/** @throws errors of the work itself, but not the injected one */
const cutOff = async (n: number, failing: Failing, work: () => Promise<unknown>): Promise<Cut> => {
  aws.failCall(n, failing);
  try {
    const value = await work();
    return { cut: !aws.pendingFault, value };
  } catch (error) {
    if (aws.pendingFault) throw error;
    return { cut: true };
  } finally {
    aws.failCall(0, failing);
  }
};

/** Retries the work, failing at each of its calls in turn. */
const insist = async (failing: Failing, work: () => Promise<unknown>): Promise<unknown> => {
  for (let n = 1; ; n++) {
    const { cut, value } = await cutOff(n, failing, work);
    if (!cut) return value;
  }
};

/** The machine's retries: each attempt gets its own token. */
const retried = (failing: Failing): LifecycleWorld['around'] => {
  const cuts = new Map<string, number>();
  return async (state, call) => {
    const n = (cuts.get(state) ?? 0) + 1;
    const { cut, value } = n > maxRetries ? { cut: false, value: await call() } : await cutOff(n, failing, call);
    cuts.set(state, cut ? n : maxRetries);
    if (cut) throw new Error('cut off');
    // The late call takes effect after the function has returned.
    await aws.letLateCome();
    return value;
  };
};

describe('a lifecycle function that is retried after a crash at any call completes the run', () => {
  it.each<[Failing, string]>([
    ['after', 'the same'],
    ['late', 'the same'],
    ['after', 'another'],
    ['late', 'another'],
  ])('%s the call took effect, with %s token', async (failing, token) => {
    const world = await LifecycleWorld.open(aws);
    await world.addTask('task', 'advisory');
    world.around = token === 'another' ? retried(failing) : (_, call) => insist(failing, call);
    const id = newId();
    await insist(failing, () => create(world, id));
    const run = await bring(world, id, over);
    expect(run.status, run.endReason).toBe('applied');
    await aws.letLateCome();
    // The workspace may have been locked for the run once more, which must not block later runs.
    world.around = (_, call) => call();
    await bring(world, await create(world), ({ current }) => current === true);
  });
});

describe('the sweep alone completes a recorded change after a crash', () => {
  /** Fails at each call in turn, with only the sweep afterwards, until no call is left to fail. */
  const atEachCall = async (prepare: () => Promise<() => Promise<unknown>>, check: (what: string) => Promise<void>) => {
    for (const failing of failings) {
      let cut = true;
      for (let n = 1; cut; n++) {
        const work = await prepare();
        ({ cut } = await cutOff(n, failing, work));
        await aws.letLateCome();
        await check(`${failing}, call ${n}`);
      }
    }
  };
  const told = (token: string | undefined) => aws.sent.some(({ input }) => input.taskToken === token);

  it.each(Object.entries<AuditAction>(deeds))('%s', async (_, { when, act, isDone }) => {
    const world = await LifecycleWorld.open(aws);
    const id = await create(world);
    const before = await bring(world, id, when);
    await atEachCall(
      async () => {
        await world.store.put({ ...world.store.keys.run(id), ...before });
        aws.sent.length = 0;
        return () => act(world, before);
      },
      async (what) => {
        const done = isDone(await runOf(world, id));
        if (done) await world.sweep();
        expect(told(before.wait?.token), what).toBe(done);
      },
    );
  });

  it('the report of a plan that reserves the apply, and the claim', async () => {
    const world = await LifecycleWorld.open(aws);
    const id = await create(world, newId(), true);
    const { when, isDone } = deeds['the report of a plan'];
    const before = await bring(world, id, when);
    const outputs = new Set<string>();
    await atEachCall(
      async () => {
        await world.store.put({ ...world.store.keys.run(id), ...before });
        aws.sent.length = 0;
        return async () => {
          await world.runner(before, 'finished', true);
          await world.claimReserved(await runOf(world, id));
        };
      },
      async (what) => {
        const done = isDone(await runOf(world, id));
        if (done) await world.sweep();
        expect(told(before.wait?.token), what).toBe(done);
        for (const { input } of aws.sent) if (input.taskToken === before.wait?.token) outputs.add(String(input.output));
      },
    );
    // With the claim, or without it by another runner.
    expect([...outputs].sort()).toEqual(['{"next":"ApplyQueued"}', '{"next":"Applying"}']);
  });

  it('a new run', async () => {
    let world: LifecycleWorld;
    let id: string;
    await atEachCall(
      async () => {
        world = await LifecycleWorld.open(aws);
        id = newId();
        return () => create(world, id);
      },
      async (what) => {
        await world.sweep(id);
        if (!(await world.run(id))) return;
        await step(world, id);
        expect((await runOf(world, id)).status, what).toBe('plan_queued');
      },
    );
  });

  it('the verdict of a run task', async () => {
    const world = await LifecycleWorld.open(aws);
    await world.addTask('task', 'mandatory');
    const id = await create(world);
    const run = await bring(world, id, ({ wait }) => wait?.state === 'PrePlanTasks');
    const [before] = await world.store.listTaskResults(run);
    await atEachCall(
      async () => {
        await world.store.put({ ...(before as TaskResult & Key) });
        aws.sent.length = 0;
        return () => world.callBack(run, 0, 'passed');
      },
      async (what) => {
        const [result] = await world.store.listTaskResults(run);
        await world.sweep();
        expect(told(before?.token), what).toBe(result?.status === 'passed');
      },
    );
  });
});

describe('a lifecycle function that always fails errors its run and frees the queue', () => {
  it.each(['Pending', 'PlanQueued', 'Planning', 'NeedsConfirmation', 'ApplyQueued', 'Applying', 'Complete'])(
    '%s',
    async (victim) => {
      const world = await LifecycleWorld.open(aws);
      const [first, second] = [await create(world), await create(world)];
      world.around = async (state, call) => {
        if (state !== victim) return call();
        await cutOff(2, 'after', call);
        throw new Error('AWS does not answer');
      };
      await bring(world, first, over).catch((error: Error) => expect(error).toBeInstanceOf(ExecutionError));
      world.around = (_, call) => call();
      await world.sweep();
      expect(over(await runOf(world, first))).toBe(true);
      // Its runner may have changed resources, so an admin has to decide.
      if (victim === 'Applying') await world.store.unlockWorkspace(world.workspaceId);
      await bring(world, second, ({ wait }) => wait?.state === 'PlanQueued');
    },
  );
});
