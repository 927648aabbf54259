/**
 * DynamoDB (in memory, with the product's table), S3 and a Step Functions that only records calls, behind one endpoint
 * at which a test can make any call fail: before it took effect, or after it, with its response lost.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { AwsV4Signer } from 'aws4fetch';
import { decodeBinary } from '#infra/local/aws/dynamodb/binary.ts';
import { DynamoDb } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { AwsError } from '#infra/local/host/errors.ts';
import type { DirectCalls } from '#platform/store/direct-calls.ts';
import { throughLayers } from './direct-layers.ts';
import { FormerItems } from './former-items.ts';
import { Objects } from './objects.ts';
import { storageCall } from './storage.ts';
import { productTable } from './table.ts';
import { undoAfterFile } from './undo.ts';

export interface SentTask {
  action: 'SendTaskSuccess' | 'SendTaskFailure' | 'SendTaskHeartbeat' | 'StartExecution' | string;
  input: Record<string, string>;
}

export interface StartedContainer {
  hasPublicIp?: boolean;
  arn: string;
  startedBy: string;
  environment: Record<string, string>;
  stopped?: boolean;
  isProvisioning?: boolean;
  /** Seconds since 1970. */
  createdAt: number;
}

/** The connection ends before the call takes effect, after it has, or (`late`) long before it does. */
export type Failing = 'before' | 'after' | 'late';

export interface Aws {
  /** Calls to Step Functions in order. */
  sent: SentTask[];
  /** Functions that were invoked asynchronously, in order. */
  invoked: { name: string; event: object }[];
  /** Contents of the bucket. */
  objects: Objects;
  /** Containers that were started, in order. */
  containers: StartedContainer[];
  /** RunTask's response without capacity; an error if it has a `__type`. */
  refusal?: object;
  /** All items of the table. */
  items(): Promise<Record<string, unknown>[]>;
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
  /** Status in DescribeExecution by execution name; `RUNNING` if undefined. */
  executionStatus?: (name: string) => string | undefined;
  /** Eventually consistent reads return the item as it was before its last write. */
  stale?: boolean;
  /** Holds every call until it resolves, so that a test can choose the order of calls. */
  gate?: () => Promise<void>;
  close(): Promise<void>;
}

/** Connections are kept: closing one just before its reuse would look like an injected fault. */
const keepAliveMs = 600_000;

const listen = (server: Server): Promise<number> => {
  server.keepAliveTimeout = keepAliveMs;
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
};

const itemsIn = ({ Item, Items = [], Responses = {} }: Record<string, unknown>): number => {
  const batches = Object.values(Responses as object).flat();
  return (Item ? 1 : 0) + (Items as unknown[]).length + batches.length;
};

interface EcsInput {
  networkConfiguration: { awsvpcConfiguration: { assignPublicIp: 'ENABLED' | 'DISABLED' } };
  startedBy: string;
  desiredStatus: string;
  task: string;
  tasks: string[];
  overrides: { containerOverrides: { environment: { name: string; value: string }[] }[] };
}

/** An ECS in which every container starts at once, and ends at once when it is stopped. */
const containers = ({ containers: all, refusal }: Aws, action: string, input: EcsInput): object => {
  const describe = ({ arn, stopped, isProvisioning, startedBy, createdAt }: StartedContainer) => ({
    taskArn: arn,
    startedBy,
    createdAt,
    ...(isProvisioning ? {} : { startedAt: createdAt }),
    lastStatus: stopped ? 'STOPPED' : isProvisioning ? 'PROVISIONING' : 'RUNNING',
  });
  if (action === 'RunTask' && refusal) return refusal;
  if (action === 'RunTask') {
    const environment = input.overrides.containerOverrides.flatMap((one) => one.environment);
    const started: StartedContainer = {
      arn: `arn:aws:ecs:us-east-1:000000000000:task/c/${all.length + 1}`,
      startedBy: input.startedBy,
      hasPublicIp: input.networkConfiguration.awsvpcConfiguration.assignPublicIp === 'ENABLED',
      createdAt: Date.now() / 1000,
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
    return { taskArns: listed.map(({ arn }) => arn) };
  }
  if (action === 'DescribeTasks') return { tasks: all.filter(({ arn }) => input.tasks.includes(arn)).map(describe) };
  const one = all.find(({ arn }) => arn === input.task);
  if (one) one.stopped = true;
  return {};
};

type Input = Record<string, unknown>;
type Attributes = Parameters<typeof unmarshall>[0];

interface Answer {
  status: number;
  body: object;
}

const json = (body: object, status = 200): Answer => ({ status, body });

const ecs = (answer: object): Answer => json(answer, '__type' in answer ? 400 : 200);

/** By their `x-amz-target`. */
const isJson = /^(AWSStepFunctions|AmazonEC2ContainerService|DynamoDB_|Lambda)/;

/** Lambda has a path for each function instead. */
const targetOf = ({ headers, url }: IncomingMessage): string => {
  const [, name] = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/.exec(url ?? '') ?? [];
  return name ? `Lambda.${name}` : String(headers['x-amz-target']);
};

/** Executions end when the test ends them. */
const states = (aws: Aws, action: string, input: Record<string, string>): Answer => {
  aws.sent.push({ action, input });
  if (action !== 'DescribeExecution') return json({});
  const name = String(input.executionArn).split(':').at(-1) as string;
  const status = aws.executionStatus ? aws.executionStatus(name) : 'RUNNING';
  return status ? json({ status }) : json({ __type: 'ExecutionDoesNotExist' }, 400);
};

const inMemory = new Set(['states', 'ecs', 'lambda']);

const functionIn = (path: string): string | undefined => {
  const [, name] = /\/functions\/([\w-]+)\/invocations$/.exec(path) ?? [];
  return name && `Lambda.${name}`;
};

const targetIn = (headers: Record<string, string>): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-amz-target')?.[1];

/**
 * Reads the bytes: `Buffer.from` would call a string method of the SDK's body, which warns once a minute and will
 * throw.
 */
const textOf = (body: string | Uint8Array): string =>
  typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();

/** The SDK's error for a connection that ends without a response. */
const connectionLost = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', code: 'ECONNRESET' });

/** S3 and KMS: in memory too if this process has them, otherwise signed like by the function. */
const elsewhere: DirectCalls['request'] = async (request) => {
  const { service, method, path, headers, body, timeoutMs = 20_000 } = request;
  const { AWS_ENDPOINT_URL = '', AWS_REGION: region, AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
  const endpoint = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? AWS_ENDPOINT_URL;
  const inMemory = storageCall(endpoint);
  if (inMemory) return inMemory(request);
  const signed = await new AwsV4Signer({
    url: endpoint + path,
    method,
    headers,
    body: body as string,
    service,
    region,
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
  }).sign();
  const reply = await fetch(signed.url, {
    method,
    headers: signed.headers,
    body: body as BodyInit,
    signal: AbortSignal.timeout(timeoutMs),
  });
  return {
    status: reply.status,
    headers: Object.fromEntries(reply.headers),
    body: Buffer.from(await reply.arrayBuffer()),
  };
};

/**
 * @param options.signed signs calls and sends them over HTTP, as on AWS, instead of making them in memory
 * @param options.attempts maximum attempts of a call
 */
export const startAws = async ({ signed = false, attempts = 1 } = {}): Promise<Aws> => {
  const database = await DynamoDb.open();
  database.ensureTable(productTable('stepform-test'));
  let fault: { n: number; when: Failing } | undefined;
  let late: (() => Promise<unknown>)[] = [];
  const aws: Aws = {
    sent: [],
    invoked: [],
    objects: new Objects(),
    containers: [],
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
    items: async () => {
      const items: Record<string, unknown>[] = [];
      let next: unknown;
      do {
        const input = { TableName: 'stepform-test', ...(next ? { ExclusiveStartKey: next } : {}) };
        const { output } = await database.handle('Scan', input);
        items.push(...(output.Items as Attributes[]).map((item) => unmarshall(item)));
        next = output.LastEvaluatedKey;
      } while (next);
      return items;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      database.close();
    },
  };
  const former = new FormerItems(database);
  const perform = async (target: string, input: Input): Promise<Answer> => {
    const [service = '', action = ''] = target.split('.');
    if (service === 'Lambda') {
      aws.invoked.push({ name: action, event: input });
      return json({}, 202);
    }
    if (service.startsWith('AWSStepFunctions')) return states(aws, action, input as Record<string, string>);
    if (service.startsWith('AmazonEC2ContainerService'))
      return ecs(containers(aws, action, input as unknown as EcsInput));
    try {
      const { output } = await former.around(aws.stale ?? false, action, input);
      if (action !== 'UpdateItem') aws.itemsRead += itemsIn(output);
      return json(output);
    } catch (error) {
      if (!(error instanceof AwsError)) throw error;
      return json({ __type: error.name, message: error.message }, error.statusCode);
    }
  };
  /** Counts a call. @returns its injected fault, if any */
  const begin = async (): Promise<Failing | undefined> => {
    await aws.gate?.();
    aws.calls++;
    const fails = fault && --fault.n === 0 ? fault.when : undefined;
    if (fails) fault = undefined;
    return fails;
  };
  /** Undefined if the connection ends without a response. */
  const answerUnless = async (
    fails: Failing | undefined,
    target: string,
    input: Input,
  ): Promise<Answer | undefined> => {
    if (fails === 'late') late.push(() => perform(target, input));
    if (fails === 'before' || fails === 'late') return undefined;
    const answer = await perform(target, input);
    return fails === 'after' ? undefined : answer;
  };
  // Store modules that are loaded from now on call without HTTP, at a third of its cost.
  const request: DirectCalls['request'] = async (request) => {
    if (!inMemory.has(request.service)) return elsewhere(request);
    const { path, headers, body = '' } = request;
    const fails = await begin();
    const target = request.service === 'lambda' ? functionIn(path) : targetIn(headers);
    if (!target) return { status: 404, headers: {}, body: Buffer.alloc(0) };
    const answer = await answerUnless(fails, target, JSON.parse(textOf(body)));
    if (!answer) throw connectionLost();
    return {
      status: answer.status,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Buffer.from(JSON.stringify(answer.body)),
    };
  };
  const table: DirectCalls['table'] = async (operation, input) => {
    const fails = await begin();
    const answer = await answerUnless(fails, `DynamoDB_20120810.${operation}`, { ...input });
    if (!answer) throw connectionLost();
    const { status, body } = answer;
    if (status === 200) return decodeBinary(body);
    const { __type: name, message } = body as { __type: string; message: string };
    throw Object.assign(new Error(message), { name, status });
  };
  const direct: DirectCalls = { request, table: (operation, input) => throughLayers(operation, input, table) };
  const setDirectCalls = (calls?: DirectCalls) =>
    Object.assign(process, { [Symbol.for('stepform.direct-calls')]: calls });
  setDirectCalls(signed ? undefined : direct);
  undoAfterFile(() => setDirectCalls());
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', async () => {
      const fails = await begin();
      const body = Buffer.concat(parts);
      // S3 responds by itself.
      const target = targetOf(incoming);
      if (!isJson.test(target)) {
        const object = (response: ServerResponse) => aws.objects.serve(incoming, body, response);
        if (fails === 'late') late.push(async () => object(new ServerResponse(incoming)));
        else if (fails !== 'before') object(fails ? new ServerResponse(incoming) : outgoing);
        if (fails) incoming.socket.destroy();
        return;
      }
      const answer = await answerUnless(fails, target, JSON.parse(body.toString()));
      if (!answer) return incoming.socket.destroy();
      outgoing
        .writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' })
        .end(JSON.stringify(answer.body));
    });
  });
  // Closing an idle connection just before its reuse would fail a call, and tests do not retry.
  server.keepAliveTimeout = 0;
  const port = await listen(server);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
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
    COMMIT_STATUS_FUNCTION: 'CommitStatusFunction',
    FETCH_COMMIT_FUNCTION: 'FetchCommitFunction',
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
