import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  DescribeTaskDefinitionCommand,
  DescribeTasksCommand,
  ECSClient,
  ListTasksCommand,
  StopTaskCommand,
  type Task,
} from '@aws-sdk/client-ecs';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { launch, type ProcessId, signal } from '#infra/local/host/processes.ts';
import type { Emulator } from './emulator.ts';

/**
 * Replaces the containers of an ECS without Docker: starts a process for each of the emulator's tasks, with exactly the
 * entrypoint and environment of the task definition.
 */

const localhost = fileURLToPath(new URL('localhost.mjs', import.meta.url));

export interface ContainersOptions {
  emulator: Emulator;
  folder: string;
  cluster: string;
  /** Name of the function that handles stopped tasks. */
  runnerStopped: string;
}

/** Where tests do not run as root, there is no other user to run Terraform as. */
const terraformUsers = (): Record<string, string> =>
  process.getuid?.() === 0 ? {} : { STEPFORM_TERRAFORM_USERS: 'none' };

export class Containers {
  readonly #options: ContainersOptions;
  readonly #ecs: ECSClient;
  readonly #lambda: LambdaClient;
  readonly #running = new Map<string, ProcessId>();
  #closed = false;
  #loop = Promise.resolve();
  /** Number of started tasks. */
  started = 0;

  constructor(options: ContainersOptions) {
    this.#options = options;
    const { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region } = options.emulator.environment;
    const client = { endpoint, region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
    this.#ecs = new ECSClient(client);
    this.#lambda = new LambdaClient(client);
    this.#loop = this.#watch();
  }

  async #watch(): Promise<void> {
    while (!this.#closed) {
      await this.#look().catch((error) => this.#closed || console.error('ECS:', error));
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  async #look(): Promise<void> {
    const { cluster } = this.#options;
    const { taskArns = [] } = await this.#ecs.send(new ListTasksCommand({ cluster }));
    for (const [arn, child] of this.#running) if (!taskArns.includes(arn)) signal(child, 'SIGTERM', 'process');
    const added = taskArns.filter((arn) => !this.#running.has(arn));
    if (!added.length) return;
    const { tasks = [] } = await this.#ecs.send(new DescribeTasksCommand({ cluster, tasks: added }));
    for (const task of tasks) await this.#start(task);
  }

  async #start(task: Task): Promise<void> {
    const arn = task.taskArn as string;
    const { taskDefinition } = await this.#ecs.send(
      new DescribeTaskDefinitionCommand({ taskDefinition: task.taskDefinitionArn }),
    );
    const container = taskDefinition?.containerDefinitions?.[0];
    if (!container) throw new Error(`${task.taskDefinitionArn} has no container`);
    const override = task.overrides?.containerOverrides?.find(({ name }) => name === container.name);
    const named = (pairs: { name?: string; value?: string }[] = []) =>
      Object.fromEntries(pairs.map(({ name, value }) => [name, value ?? '']));
    const id = arn.slice(arn.lastIndexOf('/') + 1);
    const home = join(this.#options.folder, 'tasks', id);
    mkdirSync(home, { recursive: true });
    // Terraform runs as another user, who needs access to the folder.
    chmodSync(home, 0o711);
    const [, ...args] = container.entryPoint ?? [];
    const child = launch(
      {
        file: process.execPath,
        args: ['--import', localhost, ...args],
        cwd: home,
        env: {
          PATH: process.env.PATH ?? '',
          ...terraformUsers(),
          // The volume at /tmp.
          HOME: home,
          TMPDIR: home,
          // The machine's certificate authorities.
          NODE_EXTRA_CA_CERTS: this.#options.emulator.environment.NODE_EXTRA_CA_CERTS ?? '',
          ...named(container.environment),
          ...named(override?.environment),
        },
        log: join(this.#options.folder, `task-${id}.log`),
      },
      (exitCode, stoppedReason) => {
        signal(child, 'SIGKILL', 'group');
        this.#running.delete(arn);
        if (!this.#closed) void this.#stopped(task, exitCode, stoppedReason).catch(console.error);
      },
    );
    this.#running.set(arn, child);
    this.started += 1;
  }

  async #stopped(task: Task, exitCode: number | undefined, stoppedReason: string): Promise<void> {
    const { taskArn, clusterArn, startedBy } = task;
    await this.#ecs.send(new StopTaskCommand({ cluster: this.#options.cluster, task: taskArn }));
    const detail = { taskArn, clusterArn, startedBy, lastStatus: 'STOPPED', stoppedReason, containers: [{ exitCode }] };
    await this.#lambda.send(
      new InvokeCommand({
        FunctionName: this.#options.runnerStopped,
        InvocationType: 'Event',
        Payload: JSON.stringify({ source: 'aws.ecs', 'detail-type': 'ECS Task State Change', detail }),
      }),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#loop;
    for (const child of this.#running.values()) signal(child, 'SIGKILL', 'group');
  }
}
