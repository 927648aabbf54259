import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  describe,
  eventOf,
  folderOf,
  idOf,
  isDefinition,
  newFolder,
  sameArn,
  type Task,
  type TaskDefinition,
} from './ecs-task.ts';
import { TaskWatch } from './ecs-watch.ts';
import { AwsError } from './errors.ts';
import { groupLeaderIn, isAlive, launch, type OnExit, signal } from './processes.ts';
import { writePrivately } from './secrets.ts';
import { newId, SpareProcess, type Taken, type TaskCommand } from './spare-process.ts';
import type { Resource } from './template.ts';
import { runIn } from './usage.ts';

type Input = Record<string, unknown>;

export interface EcsOptions {
  /** Journal and the tasks' own folders. */
  folder: string;
  logs: string;
  clusterArn: string;
  definition: Resource<TaskDefinition>;
  /** What stands for the image: arguments for Node. */
  program: string[];
  /** What a container gets from this machine. */
  environment: Record<string, string>;
  onEvent(detail: Record<string, unknown>, taskArn: string): void;
  /** Once per task, when it has stopped: for what AWS would bill. */
  onUsage(run: string, seconds: number): void;
}

interface RunTaskInput {
  cluster?: string;
  taskDefinition?: string;
  clientToken?: string;
  startedBy?: string;
  group?: string;
  count?: number;
  overrides?: { containerOverrides?: { name?: string; environment?: { name: string; value: string }[] }[] };
}

/** ECS keeps stopped tasks for about an hour. */
const keptMs = 3_600_000;
/** RunTask: a client token is good for 24 hours. */
const tokenMs = 24 * 3_600_000;

/** ECS on Fargate as far as the product uses it: each task is a process group of the runner program. */
export class Ecs {
  readonly #options: EcsOptions;
  readonly #tasks = new Map<string, Task>();
  readonly #watch = new TaskWatch();
  readonly #spare = new SpareProcess((id) => this.#command(id, newFolder(this.#options.folder, id)));
  #closed = false;

  constructor(options: EcsOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true });
    for (const file of readdirSync(options.folder)) {
      if (!file.endsWith('.json')) continue;
      const task = JSON.parse(readFileSync(join(options.folder, file), 'utf8')) as Task;
      this.#tasks.set(task.arn, task);
    }
  }

  /** Follows the tasks from before a restart; those that died meanwhile stop now. Call once events can be delivered. */
  resume(): void {
    for (const task of this.#tasks.values()) {
      if (task.lastStatus === 'STOPPED') continue;
      if (!task.process) this.#recall(task);
      if (task.process && isAlive(task.process)) {
        if (task.desiredStatus === 'STOPPED') this.#terminate(task);
        // Only a parent learns the exit code, and that was the platform before the restart.
        this.#watch.poll(task, () => this.#stopped(task, undefined, 'Essential container in task exited'));
      } else {
        if (task.process) signal(task.process, 'SIGKILL', 'group');
        this.#stopped(task, undefined, 'The task stopped while the platform was down');
      }
    }
  }

  /** The platform was killed between the start of the task's process and its note of it. */
  #recall(task: Task): void {
    task.process = groupLeaderIn(folderOf(task, this.#options.folder));
    if (!task.process) return;
    task.lastStatus = 'RUNNING';
    task.startedAt = task.createdAt;
    this.#save(task);
  }

  /** @param run whose doing the call is */
  async handle(action: string, input: Input, run?: string): Promise<Input> {
    switch (action) {
      case 'RunTask':
        return this.#runTask(input as RunTaskInput, run);
      case 'StopTask':
        return this.#stopTask(input);
      case 'DescribeTasks': {
        const found = (input.tasks as string[]).map((id) => ({ id, task: this.#find(id) }));
        return {
          tasks: found.flatMap(({ task }) => (task ? [describe(task, this.#options.definition.properties)] : [])),
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
        throw new AwsError('UnknownOperationException', `the local ECS does not know ${action}`);
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
        if (task.clientToken === input.clientToken)
          return { tasks: [describe(task, this.#options.definition.properties)], failures: [] };

    const spare = this.#spare.take();
    const id = spare?.command.id ?? newId();
    const task: Task = {
      arn: `${clusterArn.replace(':cluster/', ':task/')}/${id}`,
      clusterArn,
      definitionArn: definition.arn,
      clientToken: input.clientToken,
      startedBy: input.startedBy,
      group: input.group ?? `family:${definition.id}`,
      lastStatus: 'PENDING',
      desiredStatus: 'RUNNING',
      createdAt: Date.now(),
      // One that stands ready is started by whoever took the one before it, for nobody.
      run: input.startedBy?.startsWith('warm-') ? undefined : (run ?? runIn(input.startedBy ?? '')),
      folder: spare?.command.cwd ?? newFolder(this.#options.folder, id),
    };
    this.#tasks.set(task.arn, task);
    this.#save(task);
    this.#launch(task, id, input, spare);
    return { tasks: [describe(task, this.#options.definition.properties)], failures: [] };
  }

  /** How the process of a task starts, but for what the task itself brings. */
  #command(id: string, home: string): TaskCommand {
    const { definition, environment, logs, program } = this.#options;
    const [container] = definition.properties.ContainerDefinitions;
    mkdirSync(home, { recursive: true });
    // A runner that is root starts Terraform as another user, who has to get through.
    chmodSync(home, 0o711);
    return {
      id,
      file: process.execPath,
      // SIGUSR1 from any process of the same user would open Node's inspector, and with it the runner's token.
      args: ['--disable-sigusr1', ...program],
      cwd: home,
      env: {
        ...environment,
        TMPDIR: home,
        ...Object.fromEntries((container?.Environment ?? []).map(({ Name, Value }) => [Name, Value])),
      },
      log: join(logs, `runner-${id}.log`),
    };
  }

  #launch(task: Task, id: string, { overrides }: RunTaskInput, spare: Taken | undefined): void {
    const [container] = this.#options.definition.properties.ContainerDefinitions;
    const override = overrides?.containerOverrides?.find(({ name }) => name === container?.Name);
    const own = Object.fromEntries((override?.environment ?? []).map(({ name, value }) => [name, value]));
    const onExit: OnExit = (code, reason) => {
      // What the container's main process leaves behind dies with the container.
      if (task.process) signal(task.process, 'SIGKILL', 'group');
      this.#stopped(task, code, reason);
    };
    // With more runners than processors, the platform they all talk to comes first.
    const niceness = this.running > availableParallelism() ? 5 : 0;
    try {
      if (spare) task.process = spare.begin(own, onExit, niceness);
      else {
        const command = this.#command(id, folderOf(task, this.#options.folder));
        task.process = launch({ ...command, env: { ...command.env, ...own }, niceness }, onExit);
      }
      this.#spare.prepare();
      task.lastStatus = 'RUNNING';
      task.startedAt = Date.now();
      this.#save(task);
      setImmediate(() => {
        if (task.lastStatus === 'RUNNING') this.#emit(task);
      });
    } catch (error) {
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
      this.#terminate(task);
    }
    return { task: describe(task, this.#options.definition.properties) };
  }

  #terminate(task: Task): void {
    this.#watch.terminate(task, this.#options.definition.properties.ContainerDefinitions[0]?.StopTimeout);
  }

  #stopped(task: Task, exitCode: number | undefined, reason: string): void {
    this.#watch.end(task);
    // The next start finds it dead and tells everyone then.
    if (this.#closed || task.lastStatus === 'STOPPED') return;
    task.lastStatus = 'STOPPED';
    task.desiredStatus = 'STOPPED';
    task.stoppedAt = Date.now();
    task.stopCode ??= task.startedAt === undefined ? 'TaskFailedToStart' : 'EssentialContainerExited';
    task.stoppedReason ??= reason;
    task.exitCode = exitCode;
    this.#save(task);
    // In the background: a working directory can hold much. What a kill leaves is removed with the task's record.
    void rm(folderOf(task, this.#options.folder), { recursive: true, force: true }).catch(() => {});
    this.#spare.prepare({ now: this.running < availableParallelism() });
    if (task.run && task.startedAt !== undefined)
      this.#options.onUsage(task.run, (task.stoppedAt - task.startedAt) / 1000);
    this.#emit(task);
  }

  /** Tasks of a run that have not stopped, with the seconds they have had so far. */
  secondsOf(run: string): number {
    let seconds = 0;
    for (const task of this.#tasks.values())
      if (task.run === run && task.lastStatus === 'RUNNING') seconds += (Date.now() - task.startedAt!) / 1000;
    return seconds;
  }

  get running(): number {
    return [...this.#tasks.values()].filter((task) => task.lastStatus !== 'STOPPED').length;
  }

  #emit(task: Task): void {
    this.#options.onEvent(eventOf(task, this.#options.definition.properties), task.arn);
  }

  #find(id: string): Task | undefined {
    for (const task of this.#tasks.values()) if (sameArn(id, task.arn)) return task;
    return undefined;
  }

  #save(task: Task): void {
    if (!this.#closed) writePrivately(join(this.#options.folder, `${idOf(task)}.json`), JSON.stringify(task));
  }

  #forget(): void {
    const now = Date.now();
    for (const task of this.#tasks.values()) {
      if (task.stoppedAt === undefined) continue;
      if (now - task.stoppedAt < keptMs || (task.clientToken && now - task.createdAt < tokenMs)) continue;
      this.#tasks.delete(task.arn);
      rmSync(join(this.#options.folder, `${idOf(task)}.json`), { force: true });
      void rm(folderOf(task, this.#options.folder), { recursive: true, force: true }).catch(() => {});
    }
  }

  /** Leaves running tasks alone: they go on, and are followed again after the next start. */
  close(): void {
    this.#closed = true;
    this.#watch.close();
    this.#spare.close();
  }

  /** Kills every task; for platforms that will not be started again. */
  killAll(): void {
    for (const task of this.#tasks.values())
      if (task.lastStatus !== 'STOPPED' && task.process) signal(task.process, 'SIGKILL', 'group');
  }
}
