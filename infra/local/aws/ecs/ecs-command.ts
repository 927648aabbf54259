import { appendFileSync, chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AdmissionOptions } from '#infra/local/host/admission.ts';
import type { Resource } from '#infra/local/host/template.ts';
import type { TaskDefinition } from './ecs-task.ts';
import type { RunnerTask } from './runner-pool.ts';

export interface EcsOptions {
  /** Holds the journal and the tasks' folders. */
  folder: string;
  logs: string;
  clusterArn: string;
  definition: Resource<TaskDefinition>;
  /** The module that runs a task, in place of the container image. */
  program: string;
  /** File of the platform's ports (moved-ports.ts). */
  ports: string;
  /** Number of tasks that run in parallel; by default {@link Admission} decides. */
  admission?: Omit<AdmissionOptions, 'running'>;
  /** Variables that a container gets from this machine. */
  environment: Record<string, string>;
  onEvent(detail: Record<string, unknown>, taskArn: string): void;
  /** Called once per stopped task, to count the billed units. */
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

/**
 * @param own variables of the container that differ per task
 * @param home the task's folder; it is created here
 */
export const runnerTask = (
  { definition, environment, logs }: EcsOptions,
  id: string,
  home: string,
  own: Record<string, string>,
): RunnerTask => {
  const [container] = definition.properties.ContainerDefinitions;
  mkdirSync(home, { recursive: true });
  // A runner that is root starts Terraform as another user, who needs access to the folder.
  chmodSync(home, 0o711);
  mkdirSync(logs, { recursive: true });
  const log = join(logs, `runner-${id}.log`);
  appendFileSync(log, '', { mode: 0o600 });
  return {
    folder: home,
    environment: {
      ...environment,
      TMPDIR: home,
      ...Object.fromEntries((container?.Environment ?? []).map(({ Name, Value }) => [Name, Value])),
      ...own,
    },
    log,
  };
};

/** Environment of the container in a call. */
export const environmentOf = (
  { ContainerDefinitions: [container] }: TaskDefinition,
  { overrides }: RunTaskInput,
): Record<string, string> => {
  const override = overrides?.containerOverrides?.find(({ name }) => name === container?.Name);
  return Object.fromEntries((override?.environment ?? []).map(({ name, value }) => [name, value]));
};
