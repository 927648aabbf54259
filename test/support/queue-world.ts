import { vi } from 'vitest';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import type { Aws } from './aws.ts';
import { LifecycleWorld } from './lifecycle-world.ts';
import { newRunOptions } from './run.ts';
import { staggered, type Task } from './staggered.ts';

/**
 * A workspace's queue with everything that affects it: the functions of the machine's states, users' requests, run
 * creation, and the sweep. A run leaves a waiting state only when its execution is resumed. Only the machine's own
 * retries and the sweep repeat interrupted work.
 */

export type Kind = 'queued' | 'saved' | 'plan-only';

export type Action =
  | { do: 'create'; kind: Kind }
  | { do: 'lock' | 'unlock' | 'sweep' | 'wait' | 'rest' | 'nothing' }
  | { do: 'create again' | 'step' | 'runner' | 'time out'; which: number }
  | { do: 'apply' | 'discard' | 'cancel' | 'force-execute'; which: number };

export type Step = Omit<Task, 'work'> & { action: Action };

interface Creation {
  id: string;
  kind: Kind;
  /** Position in the order of begins and ends of creations; a failed creation has no end. */
  began: number;
  ended?: number;
}

const load = async () => ({
  ...(await import('#lifecycle/queue/locks.ts')),
  ...(await import('#lifecycle/queue/force-execute.ts')),
  ...(await import('#lifecycle/creation/create-run.ts')),
  ...(await import('#platform/store/due.ts')),
});

/** Loaded once: a repeated `import` asks the test runner's main process for the module again. */
let loaded: ReturnType<typeof load> | undefined;

let ids = 0;

export class QueueWorld {
  readonly creations: Creation[] = [];
  /** Runs in the order of their first effects: the start of a runner, or of a confirmed saved plan. */
  readonly effects: string[] = [];
  readonly history: string[] = [];
  /** A user received the response that the workspace is locked. */
  isLocked = false;
  /** A call was interrupted, or took longer than a function's time limit. */
  disturbed = false;
  readonly world: LifecycleWorld;
  readonly #aws: Aws;
  readonly #more: Awaited<ReturnType<typeof load>>;
  #clock = 0;
  #unlocks = 0;
  #unlocking = 0;

  static async open(aws: Aws): Promise<QueueWorld> {
    aws.containers.length = 0;
    aws.sent.length = 0;
    loaded ??= load();
    return new QueueWorld(aws, await LifecycleWorld.open(aws), await loaded);
  }

  private constructor(aws: Aws, world: LifecycleWorld, more: Awaited<ReturnType<typeof load>>) {
    this.#aws = aws;
    this.world = world;
    this.#more = more;
    this.#watch();
  }

  /** Records first effects when they happen, not when a test reads them. */
  #watch(): void {
    const note = (id: string) => {
      if (!this.effects.includes(id)) this.effects.push(id);
    };
    this.#aws.containers.push = (...started) => {
      for (const { startedBy } of started) if (this.#kindOf(startedBy) === 'queued') note(startedBy);
      return Array.prototype.push.apply(this.#aws.containers, started);
    };
    this.#aws.sent.push = (...sent) => {
      for (const { action, input } of sent) {
        const id = String(input.taskToken).split('/')[0] as string;
        const isNext = action === 'SendTaskSuccess' && this.world.executions.get(id)?.waiting.includes('Confirmed');
        if (isNext) note(id);
      }
      return Array.prototype.push.apply(this.#aws.sent, sent);
    };
  }

  #kindOf(id: string): Kind | undefined {
    return this.creations.find((one) => one.id === id)?.kind;
  }

  runs(): Promise<Run[]> {
    const all = this.creations.map(({ id }) => this.world.run(id));
    return Promise.all(all).then((runs) => runs.filter((run) => run !== undefined));
  }

  entries(): Promise<{ runId: string; place: number }[]> {
    const { store, workspaceId } = this.world;
    return store.query({ pk: store.keys.workspace(workspaceId).pk, prefix: 'QUEUE#' });
  }

  /** Performs actions while earlier ones are in progress. @param check called before each action */
  async perform(steps: Step[], choices: Iterator<number>, check: () => Promise<void>): Promise<void> {
    const tasks = steps.map((step): Task => ({ ...step, work: () => this.#do(step) }));
    await staggered(this.#aws, choices, tasks, async () => {
      await this.#aws.letLateCome();
      this.world.listen();
      await check();
    });
    await check();
  }

  async #do({ action, cut, freeze }: Step): Promise<void> {
    const frozen = freeze ? `, frozen before call ${freeze.n} for ${freeze.tasks} actions` : '';
    const name = `${Object.values(action).join(' ')}${frozen}${cut ? `, cut off ${cut.when} call ${cut.n}` : ''}`;
    this.history.push(name);
    try {
      await this.#act(action);
    } catch (error) {
      if (!cut && !this.disturbed) throw new Error(`${name} failed: ${error}\n${this.story()}`, { cause: error });
      this.disturbed = true;
    } finally {
      this.world.listen();
    }
  }

  async #act(action: Action): Promise<unknown> {
    const { store } = this.world;
    if (action.do === 'create') return this.create(action.kind);
    if (action.do === 'lock') return this.lock();
    if (action.do === 'unlock') return this.unlock();
    if (action.do === 'sweep') return this.sweep();
    if (action.do === 'wait') return this.wait(61);
    if (action.do === 'rest') return this.rest();
    if (!('which' in action)) return undefined;
    const { do: what, which } = action;
    if (what === 'create again') {
      const creation = this.creations[which % Math.max(1, this.creations.length)];
      return creation && this.create(creation.kind, creation.id);
    }
    // Newest first: early runs get enough steps.
    const runs = await this.runs();
    const run = runs.at(-1 - (which % Math.max(1, runs.length)));
    if (!run) return undefined;
    if (what === 'step') return this.world.executions.get(run.id)?.step(0);
    if (what === 'time out') return this.world.executions.get(run.id)?.timeOut(0, false);
    if (what === 'runner') return this.world.runner(run, 'finished', this.#kindOf(run.id) !== 'plan-only');
    if (what === 'force-execute') return this.#more.forceExecuteRun(run, 'user-1');
    return store.decide(run, what, 'user-1');
  }

  /** A creation with an existing id is a repeated request (create-run.ts). */
  async create(kind: Kind, id = `run-${String(++ids).padStart(16, '0')}`): Promise<void> {
    const { store, workspaceId } = this.world;
    let creation = this.creations.find((one) => one.id === id);
    if (!creation) {
      creation = { id, kind, began: ++this.#clock };
      this.creations.push(creation);
    }
    const options = newRunOptions({ id, planOnly: kind === 'plan-only', savePlan: kind === 'saved' });
    const run = (await this.#more.repeated(id)) ?? (await store.createRun(workspaceId, options));
    if (run.id !== id) throw new Error(`created ${run.id} in place of ${id}`);
    creation.ended ??= ++this.#clock;
    this.world.listen();
  }

  async lock(): Promise<void> {
    const unlocks = this.#unlocks;
    const locked = await this.#more.lockWorkspace(this.world.workspaceId, 'user-1', '');
    // A concurrent unlock may take effect after the lock.
    if (locked && unlocks === this.#unlocks && this.#unlocking === 0) this.isLocked = true;
  }

  async unlock(): Promise<void> {
    this.isLocked = false;
    this.#unlocks++;
    this.#unlocking++;
    try {
      await this.#more.unlockWorkspace(this.world.workspaceId, 'user-1');
    } finally {
      this.isLocked = false;
      this.#unlocking--;
    }
  }

  /** Lets time pass; work that was within its time limit may exceed it. */
  async wait(seconds: number): Promise<void> {
    this.disturbed = true;
    vi.setSystemTime(Date.now() + seconds * 1000);
  }

  async sweep(): Promise<void> {
    await this.wait(600);
    await this.world.sweep(...this.creations.map(({ id }) => id));
  }

  /** Lets machine, runners and users act until nothing changes any more. */
  async rest(): Promise<void> {
    for (let before = ''; ; ) {
      this.world.listen();
      for (const { id } of this.creations) {
        const execution = this.world.executions.get(id);
        while (execution?.ready.length) await execution.step(0);
      }
      for (const run of await this.runs()) {
        const state = run.wait?.state;
        if (state === 'NeedsConfirmation' || state === 'PlannedAndSaved')
          await this.world.store.decide(run, 'apply', 'user-1');
        else await this.world.runner(run, 'finished', this.#kindOf(run.id) !== 'plan-only');
      }
      this.world.listen();
      const after = JSON.stringify(await this.runs());
      if (after === before) return;
      before = after;
    }
  }

  /** Lets every run end. @returns number of sweeps that were necessary */
  async settle(most: number): Promise<number> {
    await this.#aws.letLateCome();
    await this.unlock();
    for (let sweeps = 0; ; sweeps++) {
      await this.rest();
      const open = (await this.runs()).filter(({ status }) => !isFinal(status));
      if (open.length === 0) return sweeps;
      if (sweeps === most) {
        const waiting = open.map(
          ({ id, status, wait, current }) => `${id}: ${status}, waits in ${wait?.state}${current ? ', current' : ''}`,
        );
        const lock = JSON.stringify((await this.workspace())?.lock);
        throw new Error(
          `stuck after ${sweeps} sweeps, because nothing resumes\n${waiting.join('\n')}\nlock: ${lock}\nqueue: ${JSON.stringify(await this.entries())}\n${this.story()}`,
        );
      }
      await this.sweep();
    }
  }

  workspace() {
    const { store, workspaceId } = this.world;
    return store.get<{ lock?: { kind: string; runId?: string } }>(store.keys.workspace(workspaceId));
  }

  story(): string {
    return `history:\n${this.history.join('\n')}\nfirst effects: ${this.effects.join(', ')}`;
  }

  /** Removes this world, so that the sweep of later worlds does not find it. */
  async close(): Promise<void> {
    const { store, workspaceId } = this.world;
    const { dueAttributes } = this.#more;
    const keys = [store.keys.workspace(workspaceId), ...this.creations.map(({ id }) => store.keys.run(id))];
    for (const key of keys) await store.update(key, { remove: dueAttributes, condition: 'attribute_exists(dueAt)' });
    await this.#aws.letLateCome();
  }
}
