import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AdmissionOptions } from '#infra/local/host/admission.ts';
import type { Command } from '#infra/local/host/processes.ts';
import type { Resource } from '#infra/local/host/template.ts';
import type { TaskDefinition } from './ecs-task.ts';

export interface EcsOptions {
  /** Journal and the tasks' own folders. */
  folder: string;
  logs: string;
  clusterArn: string;
  definition: Resource<TaskDefinition>;
  /** What stands for the image: arguments for Node. */
  program: string[];
  /** How many run beside each other; as {@link Admission} has it unless given. */
  admission?: Omit<AdmissionOptions, 'running'>;
  /** What a container gets from this machine. */
  environment: Record<string, string>;
  onEvent(detail: Record<string, unknown>, taskArn: string): void;
  /** Once per task, when it has stopped: for what AWS would bill. */
  onUsage(run: string, seconds: number): void;
}

export interface RunTaskInput {
  cluster?: string;
  taskDefinition?: string;
  clientToken?: string;
  startedBy?: string;
  group?: string;
  count?: number;
  overrides?: { containerOverrides?: { name?: string; environment?: { name: string; value: string }[] }[] };
}

/** How the process of a task starts, but for what the task itself brings. */
export const commandOf = (options: EcsOptions, id: string, home: string): Command => {
  const { definition, environment, logs, program } = options;
  const [container] = definition.properties.ContainerDefinitions;
  mkdirSync(home, { recursive: true });
  // A runner that is root starts Terraform as another user, who has to get through.
  chmodSync(home, 0o711);
  return {
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
};

/** What a call gives the container beside that. */
export const environmentOf = (
  { ContainerDefinitions: [container] }: TaskDefinition,
  { overrides }: RunTaskInput,
): Record<string, string> => {
  const override = overrides?.containerOverrides?.find(({ name }) => name === container?.Name);
  return Object.fromEntries((override?.environment ?? []).map(({ name, value }) => [name, value]));
};
