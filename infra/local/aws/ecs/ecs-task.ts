import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessId } from '#infra/local/host/processes.ts';
import { isPassable } from '#runner/program/terraform/machine.ts';

/** One task, as stored on disk: the fields of `DescribeTasks`, and the identity of its process. */
export interface Task {
  arn: string;
  clientToken?: string;
  startedBy?: string;
  group: string;
  lastStatus: 'PENDING' | 'RUNNING' | 'STOPPED';
  desiredStatus: 'RUNNING' | 'STOPPED';
  /** Milliseconds since 1970. */
  createdAt: number;
  startedAt?: number;
  stoppedAt?: number;
  stopCode?: string;
  stoppedReason?: string;
  exitCode?: number;
  process?: ProcessId;
  /** Its own folder, absolute. */
  folder?: string;
  /** The run that started the task. */
  run?: string;
  /** Until its process starts: variables that differ per task. */
  waitsWith?: Record<string, string>;
}

export interface TaskDefinition {
  Cpu: string;
  Memory: string;
  TaskRoleArn?: string;
  ExecutionRoleArn?: string;
  ContainerDefinitions: {
    Name: string;
    Environment?: { Name: string; Value: string }[];
    /** Seconds between SIGTERM and SIGKILL; ECS defaults to 30. */
    StopTimeout?: number;
  }[];
}

export const idOf = (task: Task): string => task.arn.split('/').at(-1)!;

/**
 * unix(7): the path of a socket has at most 107 characters. Providers listen on a socket below the runner's folder in
 * the task's folder.
 */
const maxFolder = 107 - '/stepform-123456/tmp/plugin1234567890'.length;

/**
 * Path of a task's own folder: next to the other tasks' folders, or in the temporary folder if that path would be too
 * long for a provider's socket, or if Terraform runs as another user than the platform and only the platform's user can
 * open the data folder.
 */
export const newFolder = (tasks: string, id: string): string => {
  const folder = join(tasks, id);
  const root = process.platform === 'linux' && process.getuid?.() === 0;
  if (folder.length <= maxFolder && !(root && !isPassable(tasks))) return folder;
  const above = [tmpdir(), '/tmp'].find((path) => !root || isPassable(path));
  return above ? join(above, `stepform-${id.slice(0, 8)}`) : folder;
};

export const folderOf = (task: Task, tasks: string): string => task.folder ?? join(tasks, idOf(task));

/** A task definition can be named by ARN, by `family:revision` or by family alone. */
export const isDefinition = (given: string | undefined, arn: string): boolean =>
  given === arn || arn.endsWith(`/${given}`) || arn.endsWith(`/${given}:1`);

/** ECS accepts names and task ids in place of ARNs. */
export const sameArn = (given: string | undefined, arn: string): boolean =>
  given === arn || (given !== undefined && !given.includes(':') && arn.endsWith(`/${given}`));

/** Cluster and definition of every task. */
interface Cluster {
  clusterArn: string;
  definition: { arn: string; properties: TaskDefinition };
}

/** The response of `DescribeTasks`. */
export const describe = (task: Task, { clusterArn, definition }: Cluster): Record<string, unknown> => ({
  taskArn: task.arn,
  clusterArn,
  taskDefinitionArn: definition.arn,
  group: task.group,
  startedBy: task.startedBy,
  lastStatus: task.lastStatus,
  desiredStatus: task.desiredStatus,
  launchType: 'FARGATE',
  cpu: definition.properties.Cpu,
  memory: definition.properties.Memory,
  version: 1,
  createdAt: new Date(task.createdAt),
  startedAt: task.startedAt === undefined ? undefined : new Date(task.startedAt),
  stoppedAt: task.stoppedAt === undefined ? undefined : new Date(task.stoppedAt),
  stopCode: task.stopCode,
  stoppedReason: task.stoppedReason,
  containers: definition.properties.ContainerDefinitions.map(({ Name }) => ({
    name: Name,
    taskArn: task.arn,
    lastStatus: task.lastStatus,
    exitCode: task.exitCode,
  })),
});

/** Detail of "ECS Task State Change"; times in ISO 8601. */
export const eventOf = (task: Task, cluster: Cluster): Record<string, unknown> =>
  JSON.parse(JSON.stringify({ ...describe(task, cluster), updatedAt: new Date() })) as Record<string, unknown>;
