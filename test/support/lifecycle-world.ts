import { lifecycleFunctions } from '#infra/stack/functions.ts';
import { definition } from '#infra/stack/lifecycle.ts';
import type { CheckTask, WaitingTask } from '#lifecycle/phases/progress.ts';
import type { CompleteTask } from '#lifecycle/states/complete.ts';
import type { RunTaskInput } from '#lifecycle/states/run-task.ts';
import type { TaskStageDone } from '#lifecycle/states/task-stage-done.ts';
import type { TaskUnansweredInput } from '#lifecycle/states/task-unanswered.ts';
import { taskStages } from '#run/check-record.ts';
import type { Run } from '#run/run.ts';
import type { Aws } from './aws.ts';
import { Execution, type Machine } from './executor.ts';

/**
 * A workspace, its runs and their executions: the synthesized machine, the functions of its states, the store, and
 * users, runners and run tasks that the test controls. Policies and estimates have random verdicts.
 */

const machine = definition(
  Object.fromEntries(lifecycleFunctions.map((name) => [name, name])) as Parameters<typeof definition>[0],
) as unknown as Machine;

const load = async () => ({
  ...(await import('#resources/runs/records.ts')),
  ...(await import('#lifecycle/creation/new-run.ts')),
  ...(await import('#lifecycle/phases/progress.ts')),
  ...(await import('#lifecycle/decisions/decisions.ts')),
  ...(await import('#lifecycle/queue/queue.ts')),
  ...(await import('#lifecycle/queue/locks.ts')),
  ...(await import('#resources/runs/execution.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#lifecycle/runners/ready-runners.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#resources/users/memberships.ts')),
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/keys.ts')),
  ...(await import('#resources/run-tasks/results.ts')),
  ...(await import('#resources/run-tasks/stages.ts')),
  ...(await import('#resources/run-tasks/records.ts')),
  ...(await import('#resources/run-tasks/workspace-tasks.ts')),
  ...(await import('#resources/costs/records.ts')),
  ...(await handlers()),
});

const handlers = async () => ({
  EnterState: (await import('#lifecycle/states/enter-state.ts')).handler,
  AwaitTurn: (await import('#lifecycle/states/await-turn.ts')).handler,
  PlanQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  PlannedAndSaved: (await import('#lifecycle/states/planned-and-saved.ts')).handler,
  Confirmed: (await import('#lifecycle/states/confirmed.ts')).handler,
  ApplyQueued: (await import('#lifecycle/states/apply-queued.ts')).handler,
  Complete: (await import('#lifecycle/states/complete.ts')).handler,
  TaskStageDone: (await import('#lifecycle/states/task-stage-done.ts')).handler,
  TaskUnanswered: (await import('#lifecycle/states/task-unanswered.ts')).handler,
  runTask: (await import('#lifecycle/states/run-task.ts')).runTask,
  Sweep: (await import('#lifecycle/repair/sweep.ts')).handler,
});

export type Store = Awaited<ReturnType<typeof load>>;

/** Loaded once: a repeated `import` asks the test runner's main process for the module again. */
let loaded: Promise<Store> | undefined;

let workspaces = 0;

/** The key that the runner of the run's plan has chosen. */
const keyOf = ({ id }: Run): string => `key of ${id}`;

export class LifecycleWorld {
  readonly workspaceId = `ws-${String(++workspaces).padStart(16, '0')}`;
  readonly organization = `org-${workspaces}`;
  readonly executions = new Map<string, Execution>();
  readonly aws: Aws;
  readonly store: Store;
  /** Verdict of the next policies and estimates. */
  verdict = 0;
  /** How long plans' runners stay ready: by default less than a millisecond, for a reservation with the report only. */
  readySeconds = 1e-9;
  /** Wraps calls of the states' functions. The state is named as in the machine, or by its function. */
  around: (state: string, call: () => Promise<unknown>) => Promise<unknown> = (_, call) => call();
  #heard = 0;

  static async open(aws: Aws): Promise<LifecycleWorld> {
    loaded ??= load();
    const world = new LifecycleWorld(aws, await loaded);
    const { store } = world;
    await store.create({
      ...store.keys.workspace(world.workspaceId),
      id: world.workspaceId,
      organization: world.organization,
      name: 'w',
      runCount: 0,
    });
    // The creators of the runs in these tests have permission to apply them.
    await store.addMember(world.organization, 'user-1', 'owner');
    return world;
  }

  private constructor(aws: Aws, store: Store) {
    this.aws = aws;
    this.store = store;
    this.#heard = aws.sent.length;
    aws.executionStatus = (name) => this.executions.get(name)?.status;
  }

  /** Adds a run task in every stage, with an unreachable URL; the test sends the callbacks. */
  async addTask(name: string, enforcementLevel: 'advisory' | 'mandatory'): Promise<void> {
    const task = await this.store.createTask(this.organization, {
      name,
      url: 'https://192.0.2.1/',
      description: null,
      enabled: true,
      global: { enabled: true, stages: [...taskStages], enforcementLevel },
    } as Parameters<Store['createTask']>[1]);
    if (!task) throw new Error(`no task ${name}`);
  }

  run(id: string): Promise<Run | undefined> {
    return this.store.getRun(id);
  }

  async runs(): Promise<Run[]> {
    const all = await Promise.all([...this.executions.keys()].map((id) => this.run(id)));
    return all.filter((run) => run !== undefined);
  }

  /** Processes the calls to Step Functions since the last time. */
  listen(): void {
    const sent = this.aws.sent.slice(this.#heard);
    this.#heard = this.aws.sent.length;
    for (const { action, input } of sent) {
      if (action === 'StartExecution' && !this.executions.has(input.name as string)) {
        const data = JSON.parse(input.input as string);
        this.executions.set(input.name as string, this.#execution(input.name as string, data));
      }
      const execution = this.executions.get(String(input.taskToken).split('/')[0] as string);
      if (action === 'SendTaskSuccess') {
        execution?.answer(input.taskToken as string, { output: JSON.parse(input.output as string) });
      }
      if (action === 'SendTaskFailure') {
        execution?.answer(input.taskToken as string, { error: { Error: input.error as string, Cause: input.cause } });
      }
    }
  }

  #execution(name: string, data: Record<string, unknown>): Execution {
    return new Execution(name, machine, data, async (state, payload) => {
      const entered = (payload as { state?: string }).state ?? state;
      const result = await this.around(entered, () => this.#call(state, payload));
      this.listen();
      return result;
    });
  }

  async #call(state: string, payload: unknown): Promise<unknown> {
    const { store } = this;
    switch (state) {
      case 'RunTask': {
        // The call fails, and the state waits for a callback all the same.
        const { runId, taskResultId, ...attempt } = payload as RunTaskInput;
        const awaited = await store.awaitResult(taskResultId, attempt);
        if (awaited) await store.acknowledgeResult(awaited.result);
        return store.runTask({ runId, taskResultId, ...attempt }, []);
      }
      case 'PolicyEvaluating': {
        const run = await store.enterCheck((payload as CheckTask).runId, 'PolicyEvaluating');
        const verdict = (['passed', 'overridable', 'failed'] as const)[this.verdict % 3] ?? 'passed';
        return store.nextOutput(await store.recordVerdict(run, 'policyEvaluation', verdict, 'policies failed'));
      }
      case 'PolicyChecking': {
        const run = await store.enterCheck((payload as CheckTask).runId, 'PolicyChecking');
        const verdict = (['passed', 'soft_failed', 'hard_failed'] as const)[this.verdict % 3] ?? 'passed';
        return store.nextOutput(await store.recordVerdict(run, 'policyCheck', verdict, 'policies failed'));
      }
      case 'CostEstimating': {
        const run = await store.enterCheck((payload as CheckTask).runId, 'CostEstimating');
        await store.abandonCosts(run, 'no prices');
        return store.nextOutput((await store.getRun(run.id)) ?? run);
      }
      case 'TaskStageDone':
        return store.TaskStageDone(payload as TaskStageDone);
      case 'TaskUnanswered':
        return store.TaskUnanswered(payload as TaskUnansweredInput);
      case 'Complete':
        return store.Complete(payload as CompleteTask);
      default:
        return store[state as 'PlanQueued'](payload as unknown as WaitingTask);
    }
  }

  /** Acts like runners: claims the phases that they were started for, or reserved for, and reports. */
  async runner(run: Run, outcome: 'finished' | 'errored' | 'canceled', hasChanges: boolean): Promise<void> {
    const { store } = this;
    for (const phase of ['apply', 'plan'] as const) {
      const { claimNonce, report, claimHash } = run[phase];
      if (report) continue;
      if (claimNonce) {
        // The end of the run has revoked its token.
        if (!run[phase].tokenHash) return;
        const report = { outcome, hasChanges, message: 'said the runner' };
        process.env.READY_SECONDS = String(this.readySeconds);
        await store.reportPhase(run, phase, report, phase === 'plan' ? store.hashSecret(keyOf(run)) : undefined);
        return;
      }
      if (phase === 'apply' && (await this.claimReserved(run))) return;
      const containers = this.aws.containers.filter(
        ({ startedBy, environment, stopped }) =>
          !stopped && startedBy === run.id && environment.STEPFORM_CLAIM?.startsWith(`${run.id}.${phase}.`),
      );
      if (claimHash && containers.length > 0) {
        // The claim of a container is void if its start was answered too late.
        for (const { environment, taskId } of containers) {
          const claimed = await store.claimPhase(environment.STEPFORM_CLAIM as string, taskId);
          if (!claimed) continue;
          await store.deliver(claimed.run);
          return;
        }
        return;
      }
    }
  }

  /** A poll of the plan's runner. */
  async claimReserved(run: Run): Promise<boolean> {
    const { store } = this;
    const answer = store.answerPlanRunner(run, keyOf(run));
    if (answer.action !== 'claim') return false;
    const claimed = await store.claimPhase(`${answer.claim}.${keyOf(run)}`, 'ready');
    if (claimed) await store.deliver(claimed.run);
    return true;
  }

  /** A run task reports a result for one of the awaited ones. */
  async callBack(run: Run, which: number, status: 'passed' | 'failed'): Promise<void> {
    const open = (await this.store.listTaskResults(run)).filter(({ token, status: now }) => token && now === 'running');
    const result = open[which % Math.max(1, open.length)];
    if (!result) return;
    const changed = await this.store.changeTaskResult(result, status);
    if (changed) await this.store.deliverResult(changed);
  }

  /** Lets ten minutes pass, then runs the sweep on exactly the runs that are due by then. */
  async sweep(...more: string[]): Promise<void> {
    const { store, workspaceId } = this;
    const runs = [...this.executions.keys(), ...more].map((id) => store.keys.run(id));
    for (const key of [store.keys.workspace(workspaceId), ...runs])
      for (const which of ['dueAt', 'checkAt'])
        await store.update(key, {
          set: { [which]: '2020-01-01T00:00:00.000Z' },
          condition: `${which} < :then`,
          values: { ':then': new Date(Date.now() + 600_000).toISOString() },
        });
    await this.store.Sweep();
    this.listen();
  }
}
