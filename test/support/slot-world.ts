import { vi } from 'vitest';
import { isReserved } from '#run/lifecycle.ts';
import type { Run } from '#run/run.ts';
import { isFinal } from '#run/status.ts';
import { type Aws, taskArnOf } from './aws.ts';
import { LifecycleWorld } from './lifecycle-world.ts';
import { newRunOptions } from './run.ts';
import { staggered, type Task } from './staggered.ts';

/**
 * Runs of several organizations, each in a workspace of its own, that share a limited number of runners: the functions
 * of the machine's states, containers that start and stop, users, and the sweep.
 */

export type SlotAction =
  | { do: 'create'; organization: number; kind: 'plan-only' | 'confirmed' | 'automatic' }
  | { do: 'step' | 'runner' | 'exit' | 'exit unnoticed' | 'kill' | 'confirm' | 'cancel' | 'discard'; which: number }
  | { do: 'stop execution'; which: number }
  | { do: 'sweep' };

export type SlotStep = Omit<Task, 'work'> & { action: SlotAction };

const load = async () => ({
  ...(await import('#platform/store/due.ts')),
  ...(await import('#lifecycle/slots/slots.ts')),
  runnerStopped: (await import('#lifecycle/runners/runner-stopped.ts')).handler,
  executionStopped: (await import('#lifecycle/repair/execution-stopped.ts')).handler,
});

/** Loaded once: a repeated `import` asks the test runner's main process for the module again. */
let loaded: ReturnType<typeof load> | undefined;

let ids = 0;

export class SlotWorld {
  readonly world: LifecycleWorld;
  readonly organizations: string[];
  readonly history: string[] = [];
  /** A call was interrupted, or an event was lost. */
  disturbed = false;
  readonly #aws: Aws;
  readonly #more: Awaited<ReturnType<typeof load>>;
  readonly #runs: string[] = [];
  readonly #workspaces: string[] = [];
  readonly #killed = new Set<string>();

  static async open(aws: Aws, organizations: number): Promise<SlotWorld> {
    aws.containers.length = 0;
    aws.sent.length = 0;
    const world = await LifecycleWorld.open(aws);
    const names = Array.from({ length: organizations }, (_, i) => `${world.organization}-${i}`);
    for (const name of names) await world.store.addMember(name, 'user-1', 'owner');
    loaded ??= load();
    return new SlotWorld(aws, world, names, await loaded);
  }

  private constructor(
    aws: Aws,
    world: LifecycleWorld,
    organizations: string[],
    more: Awaited<ReturnType<typeof load>>,
  ) {
    this.#aws = aws;
    this.world = world;
    this.organizations = organizations;
    this.#more = more;
    aws.executionStatus = (name) =>
      this.#killed.has(name) ? 'ABORTED' : (world.executions.get(name)?.status ?? undefined);
  }

  async runs(): Promise<Run[]> {
    return (await Promise.all(this.#runs.map((id) => this.world.run(id)))).filter((run) => run !== undefined);
  }

  /** Containers that runs have. A container with a void claim exits when it claims. */
  async containers(): Promise<{ run: Run; taskId: string }[]> {
    const live = new Set(this.#aws.containers.filter(({ stopped }) => !stopped).map(({ taskId }) => taskId));
    return (await this.runs()).flatMap((run) => {
      const taskIds = new Set(
        [run.plan.taskId, run.apply.taskId].filter((taskId) => taskId !== undefined && live.has(taskId)),
      );
      return [...taskIds].map((taskId) => ({ run, taskId: taskId as string }));
    });
  }

  async perform(steps: SlotStep[], choices: Iterator<number>, check: () => Promise<void>): Promise<void> {
    const tasks = steps.map((step): Task => ({ ...step, work: () => this.#do(step) }));
    await staggered(this.#aws, choices, tasks, async () => {
      await this.#aws.letLateCome();
      this.world.listen();
      await check();
    });
    await check();
  }

  async #do({ action, cut }: SlotStep): Promise<void> {
    const name = `${Object.values(action).join(' ')}${cut ? `, cut off ${cut.when} call ${cut.n}` : ''}`;
    this.history.push(name);
    try {
      await this.#act(action);
    } catch (error) {
      if (!cut && !this.disturbed) throw new Error(`${name} failed: ${error}\n${this.story()}`, { cause: error });
      this.disturbed = true;
    } finally {
      if (cut) this.disturbed = true;
      this.world.listen();
    }
  }

  async #act(action: SlotAction): Promise<unknown> {
    if (action.do === 'create')
      return this.create(this.organizations[action.organization % this.organizations.length] as string, action.kind);
    if (action.do === 'sweep') return this.sweep();
    const { do: what, which } = action;
    const open = (await this.runs()).filter(({ status }) => !isFinal(status));
    const run = open[which % Math.max(1, open.length)];
    if (what === 'exit' || what === 'exit unnoticed') return this.exit(which, what === 'exit');
    if (!run) return undefined;
    if (what === 'step') return this.world.executions.get(run.id)?.step(0);
    if (what === 'runner') return this.world.runner(run, 'finished', !run.planOnly);
    if (what === 'kill') return this.kill(run);
    if (what === 'confirm') return this.world.store.decide(run, 'apply', 'user-1');
    if (what === 'stop execution') return this.stopExecution(run);
    return this.world.store.decide(run, what, 'user-1');
  }

  async create(organization: string, kind: 'plan-only' | 'confirmed' | 'automatic'): Promise<string> {
    const { store } = this.world;
    const n = String(++ids).padStart(16, '0');
    const [id, workspaceId] = [`run-${n}`, `ws-slot${n}`];
    this.#runs.push(id);
    this.#workspaces.push(workspaceId);
    await store.create({ ...store.keys.workspace(workspaceId), id: workspaceId, organization, name: n, runCount: 0 });
    const options = { id, planOnly: kind === 'plan-only', autoApply: kind === 'automatic' };
    await store.createRun(workspaceId, newRunOptions(options));
    this.world.listen();
    return id;
  }

  /** A container stops that has nothing to do any more. @param isNoticed its event arrives */
  async exit(which: number, isNoticed = true): Promise<boolean> {
    const idle = (await this.containers()).filter(
      ({ run, taskId }) =>
        // The claim of a container whose run has ended is void.
        isFinal(run.status) ||
        ((run.plan.taskId !== taskId || run.plan.report) &&
          (run.apply.taskId !== taskId || run.apply.report) &&
          !(isReserved(run) && run.plan.taskId === taskId)),
    );
    const one = idle[which % Math.max(1, idle.length)];
    if (!one) return false;
    await this.#stop(one.taskId, one.run, isNoticed);
    return true;
  }

  /** The container is killed, also during its phase. */
  async kill(run: Run): Promise<void> {
    const own = (await this.containers()).find((one) => one.run.id === run.id);
    if (own) await this.#stop(own.taskId, run, true);
  }

  async #stop(taskId: string, { id }: Run, isNoticed: boolean): Promise<void> {
    for (const container of this.#aws.containers) if (container.taskId === taskId) container.stopped = true;
    if (isNoticed) await this.#more.runnerStopped({ detail: { taskArn: taskArnOf(taskId), startedBy: id } });
    else this.disturbed = true;
  }

  /** An operator stops the execution in the console. */
  async stopExecution({ id }: Run): Promise<void> {
    this.#killed.add(id);
    this.world.executions.delete(id);
    await this.#more.executionStopped({ detail: { name: id, status: 'ABORTED' } });
  }

  async sweep(): Promise<void> {
    this.disturbed = true;
    vi.setSystemTime(Date.now() + 600_000);
    await this.world.sweep(...this.#runs);
  }

  /** Events of containers that the platform stopped itself. */
  async #noticeStopped(): Promise<void> {
    for (const { taskId, startedBy, stopped } of [...this.#aws.containers])
      if (stopped) await this.#more.runnerStopped({ detail: { taskArn: taskArnOf(taskId), startedBy } });
  }

  /** Machine, runners and users act until nothing changes any more. */
  async rest(): Promise<void> {
    for (let before = ''; ; ) {
      this.world.listen();
      for (const id of this.#runs) {
        const execution = this.world.executions.get(id);
        while (execution?.ready.length) await execution.step(0);
      }
      for (const run of await this.runs()) {
        if (run.wait?.state === 'NeedsConfirmation') await this.world.store.decide(run, 'apply', 'user-1');
        else await this.world.runner(run, 'finished', !run.planOnly);
        this.world.listen();
      }
      while (await this.exit(0));
      await this.#noticeStopped();
      this.world.listen();
      const after = JSON.stringify(await this.runs());
      if (after === before) return;
      before = after;
    }
  }

  /** Lets every run end. */
  async settle(maxSweeps: number): Promise<void> {
    await this.#aws.letLateCome();
    for (let sweeps = 0; ; sweeps++) {
      await this.rest();
      const open = (await this.runs()).filter(({ status }) => !isFinal(status));
      if (open.length === 0) return;
      if (sweeps === maxSweeps) {
        const waiting = open.map(({ id, status, wait, slot }) => `${id}: ${status}, ${wait?.state}, slot ${slot}`);
        throw new Error(
          `stuck after ${sweeps} sweeps\n${waiting.join('\n')}\n${JSON.stringify(await this.slots())}\n${this.story()}`,
        );
      }
      await this.sweep();
    }
  }

  slots(): Promise<{ held: Record<string, string>; waiting: object[] } | undefined> {
    const { store } = this.world;
    return store.get(store.keys.slots);
  }

  async waits(organization: string): Promise<object[]> {
    const { store } = this.world;
    return store.query({ pk: store.keys.slotWait(organization, '', '', '').pk });
  }

  story(): string {
    return `history:\n${this.history.join('\n')}`;
  }

  /** Removes this world, so that later ones do not find it. */
  async close(): Promise<void> {
    const { store } = this.world;
    const keys = [...this.#workspaces.map(store.keys.workspace), ...this.#runs.map(store.keys.run)];
    for (const key of keys)
      await store.update(key, { remove: this.#more.dueAttributes, condition: 'attribute_exists(dueAt)' });
    await store.remove(store.keys.slots);
    await this.#aws.letLateCome();
  }
}
