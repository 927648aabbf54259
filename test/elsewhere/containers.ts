import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
import { launch, type ProcessId, signal } from '../../infra/local/processes.ts';
import type { Emulator } from './emulator.ts';

/**
 * Stands in for the containers of an ECS without Docker: starts a process for each task the emulator has, with the
 * entrypoint, user and environment that the image's Dockerfile and the task definition name, and nothing else.
 */

const localhost = fileURLToPath(new URL('localhost.mjs', import.meta.url));

/** How the image starts its program (Dockerfile reference: ENTRYPOINT in exec form, ENV, USER). */
interface Image {
  entrypoint: string[];
  environment: Record<string, string>;
  user: string;
}

export const readDockerfile = (text: string): Image => {
  const last = (instruction: string): string =>
    text
      .match(new RegExp(`^${instruction} .+$`, 'gm'))
      ?.at(-1)
      ?.slice(instruction.length + 1) ?? '';
  const environment = [...text.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]);
  return {
    entrypoint: JSON.parse(last('ENTRYPOINT')) as string[],
    environment: Object.fromEntries(environment),
    user: last('USER'),
  };
};

export interface ContainersOptions {
  emulator: Emulator;
  folder: string;
  cluster: string;
  /** Absolute path of the bundled program; its Dockerfile is beside it. */
  runner: string;
  /** Name of the function that hears of stopped tasks. */
  runnerStopped: string;
}

export class Containers {
  readonly #options: ContainersOptions;
  readonly #ecs: ECSClient;
  readonly #lambda: LambdaClient;
  readonly #image: Image;
  readonly #running = new Map<string, ProcessId>();
  #closed = false;
  #loop = Promise.resolve();
  /** How many tasks were started. */
  started = 0;

  constructor(options: ContainersOptions) {
    this.#options = options;
    const { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region } = options.emulator.environment;
    const client = { endpoint, region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
    this.#ecs = new ECSClient(client);
    this.#lambda = new LambdaClient(client);
    this.#image = readDockerfile(readFileSync(join(dirname(options.runner), 'Dockerfile'), 'utf8'));
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
    // Terraform runs as another user, who has to get through.
    chmodSync(home, 0o711);
    const [, ...entrypoint] = container.entryPoint?.length ? container.entryPoint : this.#image.entrypoint;
    const args = [...entrypoint, ...(override?.command ?? container.command ?? [])];
    const child = launch(
      {
        file: process.execPath,
        args: ['--import', localhost, ...args.map((arg) => arg.replace('/opt/runner/main.mjs', this.#options.runner))],
        cwd: home,
        env: {
          PATH: process.env.PATH ?? '',
          ...this.#imageEnvironment(container.user),
          // The volume at /tmp.
          HOME: home,
          TMPDIR: home,
          // The machine's store of authorities.
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

  /** A machine whose tests do not run as root has nobody else to run Terraform as. */
  #imageEnvironment(user = this.#image.user): Record<string, string> {
    const isRoot = process.getuid?.() === 0 && (user === 'root' || user === '0');
    return isRoot ? this.#image.environment : { ...this.#image.environment, STEPFORM_TERRAFORM_USERS: 'none' };
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
