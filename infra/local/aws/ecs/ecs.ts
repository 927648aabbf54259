import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Admission } from '#infra/local/host/admission.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import { groupLeaderIn, isAlive, type OnExit, signal } from '#infra/local/host/processes.ts';
import { removeFolder } from '#runner/program/workspace/remove-folder.ts';
import { runIn } from '../lambda/usage.ts';
import { type EcsOptions, environmentOf, type RunTaskInput, runnerTask } from './ecs-command.ts';
import { describe, eventOf, folderOf, idOf, isDefinition, newFolder, sameArn, type Task } from './ecs-task.ts';
import { TaskWatch } from './ecs-watch.ts';
import { RunnerPool, runnerArguments } from './runner-pool.ts';

type Input = Record<string, unknown>;

/** ECS keeps stopped tasks for about an hour. */
const keptMs = 3_600_000;
/** RunTask: a client token is valid for 24 hours. */
const tokenMs = 24 * 3_600_000;

/**
 * The part of ECS on Fargate that the product uses: each running task has a process of the runner program to itself.
 */
export class Ecs {
  readonly #options: EcsOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #watch = new TaskWatch();
  readonly #admission: Admission;
  readonly #runners: RunnerPool;
  /** Tasks with a process. */
  readonly #active = new Set<Task>();
  #closed = false;

  constructor(options: EcsOptions) {
    this.#options = options;
    this.#admission = new Admission({ ...options.admission, running: () => this.#active.size });
    this.#runners = new RunnerPool({
      file: process.execPath,
      args: runnerArguments(options.program, options.ports),
      cwd: '/',
      env: options.environment,
      log: join(options.logs, 'runners.log'),
    });
    mkdirSync(options.folder, { recursive: true });
    for (const file of readdirSync(options.folder)) {
      if (!file.endsWith('.json')) continue;
      const task = readTask(join(options.folder, file));
      if (task) this.#tasks.set(task.arn, task);
    }
  }

  /**
   * Follows the tasks from before a restart; those that ended meanwhile stop now. Call once events can be delivered.
   */
  resume(): void {
    const inOrder = [...this.#tasks.values()].sort((a, b) => a.createdAt - b.createdAt);
    for (const task of inOrder) {
      if (task.lastStatus === 'STOPPED') continue;
      if (!task.process) this.#recall(task);
      if (!task.process && task.waitsWith && task.desiredStatus === 'RUNNING') {
        const own = task.waitsWith;
        this.#admission.admit(task.arn, () => this.#launch(task, own));
      } else if (task.process && isAlive(task.process)) {
        if (task.desiredStatus === 'STOPPED') this.#terminate(task);
        this.#active.add(task);
        // Only the parent process learns the exit code, and the parent was the platform before the restart.
        this.#watch.poll(task, () => this.#stopped(task, undefined, 'Essential container in task exited'));
      } else {
        if (task.process) signal(task.process, 'SIGKILL', 'group');
        this.#stopped(task, undefined, 'The task stopped while the platform was down');
      }
    }
  }

  /** Finds the process of a task by its folder, if the platform was killed before it recorded the process. */
  #recall(task: Task): void {
    task.process = groupLeaderIn(folderOf(task, this.#options.folder));
    if (!task.process) return;
    delete task.waitsWith;
    task.lastStatus = 'RUNNING';
    task.startedAt = task.createdAt;
    this.#save(task);
  }

  /** @param run the run that caused the call */
  async handle(action: string, input: Input, run?: string): Promise<Input> {
    switch (action) {
      case 'RunTask':
        return this.#runTask(input as RunTaskInput, run);
      case 'StopTask':
        return this.#stopTask(input);
      case 'DescribeTasks': {
        const found = (input.tasks as string[]).map((id) => ({ id, task: this.#find(id) }));
        return {
          tasks: found.flatMap(({ task }) => (task ? [describe(task, this.#options)] : [])),
          failures: found.flatMap(({ id, task }) => (task ? [] : [{ arn: id, reason: 'MISSING' }])),
        };
      }
      case 'ListTasks': {
        const desired = (input.desiredStatus as string | undefined) ?? 'RUNNING';
        const { startedBy } = input;
        const tasks = [...this.#tasks.values()].filter(
          (task) => task.desiredStatus === desired && (startedBy === undefined || task.startedBy === startedBy),
        );
        return { taskArns: tasks.map((task) => task.arn) };
      }
      default:
        throw new AwsError('UnknownOperationException', `the local ECS does not support ${action}`);
    }
  }

  #runTask(input: RunTaskInput, run: string | undefined): Input {
    const { clusterArn, definition } = this.#options;
    if (!sameArn(input.cluster, clusterArn)) throw new AwsError('ClusterNotFoundException', 'Cluster not found.');
    if (!isDefinition(input.taskDefinition, definition.arn))
      throw new AwsError('ClientException', 'TaskDefinition not found.');
    if ((input.count ?? 1) !== 1)
      throw new AwsError('InvalidParameterException', 'The local ECS runs one task a call.');
    this.#forget();
    if (input.clientToken !== undefined)
      for (const task of this.#tasks.values())
        if (task.clientToken === input.clientToken) return { tasks: [describe(task, this.#options)], failures: [] };

    const own = environmentOf(definition.properties, input);
    const waits = this.#admission.isFull;
    const id = randomBytes(16).toString('hex');
    const task: Task = {
      arn: `${clusterArn.replace(':cluster/', ':task/')}/${id}`,
      clientToken: input.clientToken,
      startedBy: input.startedBy,
      group: input.group ?? `family:${definition.id}`,
      lastStatus: 'PENDING',
      desiredStatus: 'RUNNING',
      createdAt: Date.now(),
      // A warm runner is started by the run that took the previous one, and belongs to no run.
      run: input.startedBy?.startsWith('warm-') ? undefined : (run ?? runIn(input.startedBy ?? '')),
      folder: newFolder(this.#options.folder, id),
      waitsWith: waits ? own : undefined,
    };
    // Written before the call succeeds: a task that cannot be recorded is refused.
    writeTask(this.#fileOf(task), task);
    this.#tasks.set(task.arn, task);
    this.#admission.admit(task.arn, () => this.#launch(task, own));
    return { tasks: [describe(task, this.#options)], failures: [] };
  }

  /** @param own variables of the container that differ per task */
  #launch(task: Task, own: Record<string, string>): void {
    const onEnd: OnExit = (code, reason) => this.#stopped(task, code, reason);
    // With more runners than processors, the platform that serves them all has priority.
    const niceness = this.#active.size >= availableParallelism() ? 5 : 0;
    delete task.waitsWith;
    try {
      const command = runnerTask(this.#options, idOf(task), folderOf(task, this.#options.folder), own);
      task.process = this.#runners.perform(command, niceness, onEnd);
      this.#active.add(task);
      task.lastStatus = 'RUNNING';
      task.startedAt = Date.now();
      this.#save(task);
      setImmediate(() => {
        if (task.lastStatus === 'RUNNING') this.#emit(task);
      });
    } catch (error) {
      if (task.process) signal(task.process, 'SIGKILL', 'group');
      setImmediate(() => this.#stopped(task, undefined, (error as Error).message));
    }
  }

  #stopTask(input: Input): Input {
    const task = this.#find(String(input.task));
    if (!task) throw new AwsError('InvalidParameterException', 'The referenced task was not found.');
    if (task.desiredStatus === 'RUNNING') {
      task.desiredStatus = 'STOPPED';
      task.stopCode = 'UserInitiated';
      task.stoppedReason = (input.reason as string | undefined) ?? 'Task stopped by user';
      this.#save(task);
      if (this.#admission.withdraw(task.arn)) this.#stopped(task, undefined, 'Task stopped before it was started');
      else this.#terminate(task);
    }
    return { task: describe(task, this.#options) };
  }

  #terminate(task: Task): void {
    this.#watch.terminate(task, this.#options.definition.properties.ContainerDefinitions[0]?.StopTimeout);
  }

  #stopped(task: Task, exitCode: number | undefined, reason: string): void {
    this.#watch.end(task);
    this.#active.delete(task);
    // After close(), the next start of the platform reports the end of the task.
    if (this.#closed || task.lastStatus === 'STOPPED') return;
    task.lastStatus = 'STOPPED';
    task.desiredStatus = 'STOPPED';
    task.stoppedAt = Date.now();
    task.stopCode ??= task.startedAt === undefined ? 'TaskFailedToStart' : 'EssentialContainerExited';
    task.stoppedReason ??= reason;
    task.exitCode = exitCode;
    delete task.waitsWith;
    // The process may run another task from now on.
    delete task.process;
    this.#save(task);
    // In the background: a working directory can be large. Leftovers of a kill are removed with the task's record.
    void removeFolder(folderOf(task, this.#options.folder)).catch(() => {});
    this.#admission.look();
    if (task.run && task.startedAt !== undefined)
      this.#options.onUsage(task.run, (task.stoppedAt - task.startedAt) / 1000);
    this.#emit(task);
  }

  /** Tasks of a run that have not stopped, with their duration so far in seconds. */
  secondsOf(run: string): number {
    let seconds = 0;
    for (const task of this.#tasks.values())
      if (task.run === run && task.lastStatus === 'RUNNING') seconds += (Date.now() - task.startedAt!) / 1000;
    return seconds;
  }

  /** Tasks that have not stopped. */
  get running(): number {
    return [...this.#tasks.values()].filter((task) => task.lastStatus !== 'STOPPED').length;
  }

  #emit(task: Task): void {
    this.#options.onEvent(eventOf(task, this.#options), task.arn);
  }

  #find(id: string): Task | undefined {
    for (const task of this.#tasks.values()) if (sameArn(id, task.arn)) return task;
    return undefined;
  }

  #save(task: Task): void {
    if (this.#closed) return;
    try {
      writeTask(this.#fileOf(task), task);
    } catch (error) {
      // A full disk does not affect the process: after a restart its folder identifies it, or it has ended.
      console.error(`Task ${idOf(task)} cannot be recorded as ${task.lastStatus}: ${(error as Error).message}`);
    }
  }

  #fileOf(task: Task): string {
    return join(this.#options.folder, `${idOf(task)}.json`);
  }

  #forget(): void {
    const now = Date.now();
    for (const task of this.#tasks.values()) {
      if (task.stoppedAt === undefined) continue;
      if (now - task.stoppedAt < keptMs || (task.clientToken && now - task.createdAt < tokenMs)) continue;
      this.#tasks.delete(task.arn);
      rmSync(join(this.#options.folder, `${idOf(task)}.json`), { force: true });
      void removeFolder(folderOf(task, this.#options.folder)).catch(() => {});
    }
  }

  /** Leaves running tasks alone: they continue, and the next start follows them again. */
  close(): void {
    this.#closed = true;
    this.#watch.close();
    this.#admission.close();
    this.#runners.close();
  }

  /** Kills every task; for platforms that do not start again. */
  killAll(): void {
    for (const task of this.#tasks.values())
      if (task.lastStatus !== 'STOPPED' && task.process) signal(task.process, 'SIGKILL', 'group');
  }
}

/**
 * No fsync: a power failure ends the task too. If the failure empties the record of a task, its run ends by a missed
 * heartbeat, and {@link readTask} skips the record.
 */
const writeTask = (file: string, task: Task): void => {
  writeFileSync(`${file}.new`, JSON.stringify(task), { mode: 0o600 });
  renameSync(`${file}.new`, file);
};

const readTask = (file: string): Task | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Task;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    renameSync(file, `${file}.damaged`);
    console.error(`${file} was damaged and is now ${file}.damaged. The run of its task ends as errored.`);
    return undefined;
  }
};
