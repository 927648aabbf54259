import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { decodeBinary } from '#infra/local/aws/dynamodb/binary.ts';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { Table } from '#infra/local/aws/dynamodb/table.ts';
import { clientOf, connectionLost, retried } from '#infra/local/host/client.ts';
import { Database } from '#infra/local/host/database.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import type { Services } from '#platform/store/services.ts';
import type { PolicyContent } from '#resources/policies/content.ts';
import { FormerItems } from './former-items.ts';
import { Objects } from './objects.ts';
import { storageHere } from './storage.ts';
import { productTable } from './table.ts';
import { throughLayers } from './table-layers.ts';
import { closeAfterFile, undoAfterFile } from './undo.ts';

/**
 * The services of platform/store/services.ts for tests: DynamoDB in memory with the product's table, S3, and a Step
 * Functions that only records calls. A test can make any call fail: before it took effect, or after it, with its
 * response lost.
 */

export interface SentTask {
  action: 'SendTaskSuccess' | 'SendTaskFailure' | 'SendTaskHeartbeat' | 'StartExecution' | string;
  input: Record<string, string>;
}

export interface StartedContainer {
  hasPublicIp?: boolean;
  tags?: Record<string, string>;
  taskId: string;
  startedBy: string;
  environment: Record<string, string>;
  stopped?: boolean;
  /** Reason in StopTask. */
  stopReason?: string;
  /** Runs on after StopTask. */
  ignoresStop?: boolean;
  isProvisioning?: boolean;
  /** Seconds since 1970. */
  createdAt: number;
}

/** The connection ends before the call takes effect, after it has, or (`late`) long before it does. */
export type Failing = 'before' | 'after' | 'late';

export interface Aws {
  /** Calls to Step Functions in order. */
  sent: SentTask[];
  /** Functions that were invoked, in order. */
  invoked: { name: string; event: object }[];
  /** Messages that were sent to each open connection of a WebSocket API. */
  connections: Map<string, string[]>;
  /** Contents of the bucket. */
  objects: Objects;
  /** Containers that were started, in order. */
  containers: StartedContainer[];
  /** RunTask's response without capacity, or its error. */
  refusal?: object;
  /** Items of the table whose stored JSON contains the text; without it, all. */
  items(text?: string): Record<string, unknown>[];
  /** Calls to DynamoDB since the start. */
  calls: number;
  /** Items that DynamoDB returned since the start. */
  itemsRead: number;
  /** Fails the n-th call from now on (1 = the next), once. */
  failCall(n: number, when: Failing): void;
  /** Whether the call that has to fail has not been made yet. */
  pendingFault: boolean;
  /** Lets calls that failed as `late` take effect. */
  letLateCome(): Promise<void>;
  /** Names of the running executions in ListExecutions. */
  running: string[];
  /** Status in DescribeExecution by execution name; `RUNNING` if undefined. */
  executionStatus?: (name: string) => string | undefined;
  /** Eventually consistent reads return the item as it was before its last write. */
  stale?: boolean;
  /** Holds every call until it resolves, so that a test can choose the order of calls. */
  gate?: () => Promise<void>;
  /** SES: undefined accepts the message. */
  mail?: Services['mail'];
  close(): Promise<void>;
}

/** Calls to DynamoDB in a row that change nothing: more are an endless loop, which no time limit of a test can end. */
const maxVainCalls = 10_000;
/** Calls in one turn of the event loop: more are an endless loop that writes. */
const maxCallsInTurn = 100_000;

const itemsIn = ({ Item, Items = [], Responses = {} }: Record<string, unknown>): number => {
  const batches = Object.values(Responses as object).flat();
  return (Item ? 1 : 0) + (Items as unknown[]).length + batches.length;
};

interface EcsInput {
  networkConfiguration: { awsvpcConfiguration: { assignPublicIp: 'ENABLED' | 'DISABLED' } };
  startedBy: string;
  desiredStatus: string;
  task: string;
  reason: string;
  nextToken?: string;
  tags?: { key: string; value: string }[];
  tasks: string[];
  overrides: { containerOverrides: { environment: { name: string; value: string }[] }[] };
}

export const taskArnOf = (id: string): string => `arn:aws:ecs:us-east-1:000000000000:task/c/${id}`;

/** An ECS in which every container starts at once, and ends at once when it is stopped. */
const containers = ({ containers: all, refusal }: Aws, action: string, input: EcsInput): object => {
  const describe = ({ taskId, stopped, isProvisioning, startedBy, createdAt }: StartedContainer) => ({
    taskArn: taskArnOf(taskId),
    startedBy,
    createdAt: new Date(createdAt * 1000),
    ...(isProvisioning ? {} : { startedAt: new Date(createdAt * 1000) }),
    lastStatus: stopped ? 'STOPPED' : isProvisioning ? 'PROVISIONING' : 'RUNNING',
  });
  if (action === 'RunTask' && refusal instanceof Error) throw refusal;
  if (action === 'RunTask' && refusal) return refusal;
  if (action === 'RunTask') {
    const environment = input.overrides.containerOverrides.flatMap((one) => one.environment);
    const started: StartedContainer = {
      taskId: `${all.length + 1}`,
      startedBy: input.startedBy,
      hasPublicIp: input.networkConfiguration.awsvpcConfiguration.assignPublicIp === 'ENABLED',
      createdAt: Date.now() / 1000,
      tags: Object.fromEntries((input.tags ?? []).map(({ key, value }) => [key, value])),
      environment: Object.fromEntries(environment.map(({ name, value }) => [name, value])),
    };
    all.push(started);
    return { tasks: [describe(started)], failures: [] };
  }
  if (action === 'ListTasks') {
    const listed = all.filter(
      ({ startedBy, stopped = false }) =>
        (input.startedBy === undefined || startedBy === input.startedBy) &&
        stopped === (input.desiredStatus === 'STOPPED'),
    );
    const from = Number(input.nextToken ?? 0);
    const nextToken = listed.length > from + 100 ? String(from + 100) : undefined;
    return { taskArns: listed.slice(from, from + 100).map(({ taskId }) => taskArnOf(taskId)), nextToken };
  }
  if (action === 'DescribeTasks')
    return {
      tasks: all
        .filter(({ taskId }) => input.tasks.some((one) => [taskId, taskArnOf(taskId)].includes(one)))
        .map(describe),
    };
  const one = all.find(({ taskId }) => taskId === input.task);
  if (one) Object.assign(one, { stopReason: input.reason, ...(one.ignoresStop ? {} : { stopped: true }) });
  return {};
};

/** Executions end when the test ends them. */
const executions = (aws: Aws, action: string, input: Record<string, string>): object => {
  aws.sent.push({ action, input: { ...input } });
  if (action === 'ListExecutions') {
    return {
      executions: aws.running.map((name) => ({ name, executionArn: `arn:aws:states:execution:${name}` })),
    };
  }
  if (action !== 'DescribeExecution') return {};
  const name = String(input.executionArn).split(':').at(-1) as string;
  const status = aws.executionStatus ? aws.executionStatus(name) : 'RUNNING';
  if (!status) throw new AwsError('ExecutionDoesNotExist', `no execution ${name}`);
  return { status };
};

/** @param options.attempts maximum attempts of a call */
export const startAws = async ({ attempts = 1 } = {}): Promise<Aws> => {
  const sqlite = Database.inMemory();
  const database = new DynamoDb(sqlite);
  database.ensureTable(productTable('stepform-test'));
  let fault: { n: number; when: Failing } | undefined;
  let late: (() => Promise<unknown>)[] = [];
  let vainCalls = 0;
  let callsInTurn = 0;
  const aws: Aws = {
    sent: [],
    invoked: [],
    connections: new Map(),
    objects: new Objects(),
    containers: [],
    running: [],
    calls: 0,
    itemsRead: 0,
    failCall: (n, when) => {
      fault = n > 0 ? { n, when } : undefined;
    },
    get pendingFault() {
      return fault !== undefined;
    },
    letLateCome: async () => {
      const coming = late;
      late = [];
      for (const come of coming) await come();
    },
    items: (text = '') =>
      [...new Table(sqlite, { name: 'stepform-test', keys: { hash: 'pk', range: 'sk' }, indexes: [] }).scan(undefined)]
        .filter(({ item }) => JSON.stringify(item).includes(text))
        .map(({ item }) => unmarshall(item as Record<string, AttributeValue>)),
    close: closeAfterFile(async () => sqlite.close()),
  };
  const former = new FormerItems(database);
  /** One attempt of a call: counts it, and injects its fault, if any. */
  const attempt = async <T>(perform: () => Promise<T>): Promise<T> => {
    await aws.gate?.();
    aws.calls++;
    const fails = fault && --fault.n === 0 ? fault.when : undefined;
    if (fails) fault = undefined;
    if (fails === 'late') late.push(() => perform().catch(() => {}));
    if (fails === 'before' || fails === 'late') throw connectionLost();
    const done = perform();
    if (!fails) return done;
    await done.catch(() => {});
    throw connectionLost();
  };
  /** As the SDK, without its pauses. */
  const again = <T>(perform: () => Promise<T>): Promise<T> => retried(perform, attempts, () => setImmediate());
  const call = <T>(perform: () => T): Promise<T> => again(() => attempt(async () => perform()));
  const table = (action: string, input: object): Promise<object> =>
    attempt(async () => {
      if (callsInTurn++ === 0)
        void setImmediate().then(() => {
          callsInTurn = 0;
        });
      if (callsInTurn > maxCallsInTurn)
        throw new Error(
          `an endless loop: ${maxCallsInTurn} calls to DynamoDB in one turn of the event loop; ${action}`,
        );
      // From then on every call fails, because callers can hide the error of one.
      if (++vainCalls > maxVainCalls)
        throw new Error(
          `an endless loop: ${maxVainCalls} calls to DynamoDB changed nothing; ${action} ${inspect(input)}`,
        );
      const { output } = await former.around(aws.stale ?? false, action, { ...input });
      if (!/^(Get|BatchGet|Query|Scan)/.test(action)) vainCalls = 0;
      if (action !== 'UpdateItem') aws.itemsRead += itemsIn(output);
      return decodeBinary(output);
    });
  const services: Services = {
    table: clientOf<DynamoDBClient>((action, input) => again(() => throughLayers(action, input, table))),
    states: clientOf((action, input) => call(() => executions(aws, action, input as Record<string, string>))),
    tasks: clientOf((action, input) => call(() => containers(aws, action, input as EcsInput))),
    objects: async (url, request) =>
      storageHere ? storageHere.objects(url, request) : call(() => aws.objects.request(url, request)),
    keys: async (operation, input) => {
      if (!storageHere) throw new Error('startStorage() has the keys');
      return storageHere.keys(operation, input);
    },
    invoke: (name, event) =>
      call(() => {
        if (!/^[\w-]+$/.test(name)) throw new AwsError('ResourceNotFoundException', `Function not found: ${name}`, 404);
        // As JSON, which drops undefined properties.
        aws.invoked.push({ name, event: JSON.parse(JSON.stringify(event)) });
      }),
    // The only function whose result others wait for. It has no state of its own, so it can run here.
    call: async (name, event) => {
      aws.invoked.push({ name, event });
      const { handler } = await import('#resources/policies/engine/compile.ts');
      return handler(event as PolicyContent);
    },
    mail: async (message) => aws.mail?.(message),
    connection: async (_, id, message) => {
      if (message === undefined) return aws.connections.delete(id);
      return aws.connections.get(id)?.push(message) !== undefined;
    },
  };
  Object.assign(process, { [Symbol.for('stepform.services')]: services });
  undoAfterFile(() => Object.assign(process, { [Symbol.for('stepform.services')]: undefined }));
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_MAX_ATTEMPTS: String(attempts),
    // Tests send requests faster than any user; the rate limit's own test sets it.
    REQUESTS_PER_SECOND: '1000000',
    TABLE_NAME: 'stepform-test',
    BUCKET_NAME: 'stepform-test',
    CLUSTER_ARN: 'arn:aws:ecs:us-east-1:000000000000:cluster/c',
    TASK_DEFINITION_ARN: 'arn:aws:ecs:us-east-1:000000000000:task-definition/runner:1',
    CONTAINER_NAME: 'runner',
    NOTIFY_FUNCTION: 'NotifyFunction',
    DATA_RETENTION_FUNCTION: 'DataRetentionFunction',
    COMPILE_POLICIES_FUNCTION: 'CompilePoliciesFunction',
    COMMIT_STATUS_FUNCTION: 'CommitStatusFunction',
    FETCH_COMMIT_FUNCTION: 'FetchCommitFunction',
    ENVIRONMENT_LOGS_FUNCTION: 'EnvironmentLogsFunction',
    ENVIRONMENT_SWEEP_FUNCTION: 'EnvironmentSweepFunction',
    FETCH_PROVIDER_FUNCTION: 'FetchProviderFunction',
    VERSION_CONTROL_EVENT_FUNCTION: 'VersionControlEventFunction',
    SUBNETS: 'subnet-1',
    SECURITY_GROUPS: 'sg-1',
    ASSIGN_PUBLIC_IP: 'true',
    PUBLIC_URL: 'http://127.0.0.1:1',
    STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:runs',
  });
  return aws;
};
