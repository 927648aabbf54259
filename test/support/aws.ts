/**
 * DynamoDB (dynalite, in memory, the table as the product has it), S3 and a Step Functions that only takes notes, behind
 * one endpoint at which a test can let any call fail: before it took effect, or after, with its answer lost.
 */
import { createServer, request, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { Objects } from './objects.ts';

export interface SentTask {
  action: 'SendTaskSuccess' | 'SendTaskFailure' | 'SendTaskHeartbeat' | 'StartExecution' | string;
  input: Record<string, string>;
}

export interface StartedContainer {
  arn: string;
  startedBy: string;
  environment: Record<string, string>;
  stopped?: boolean;
}

export interface Aws {
  /** Calls to Step Functions in order. */
  sent: SentTask[];
  /** What is in the bucket. */
  objects: Objects;
  /** Containers that were started, in order. */
  containers: StartedContainer[];
  /** Calls to DynamoDB since the start. */
  calls: number;
  /** Items that DynamoDB handed out since the start. */
  itemsRead: number;
  /** Fails the n-th call from now on (1 = the next), once. */
  failCall(n: number, when: 'before' | 'after'): void;
  /** Holds every call until it resolves, so that a test can choose the order in which calls happen. */
  gate?: () => Promise<void>;
  close(): Promise<void>;
}

/** Connections stay: one that is closed just when it is used again looks like a fault that nobody ordered. */
const keepAliveMs = 600_000;

const listen = (server: Server): Promise<number> => {
  server.keepAliveTimeout = keepAliveMs;
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
};

const itemsIn = (text: string): number => {
  const { Item, Items = [], Responses = {} } = JSON.parse(text || '{}');
  const batches = Object.values(Responses).flat();
  return (Item ? 1 : 0) + Items.length + batches.length;
};

interface EcsInput {
  startedBy: string;
  desiredStatus: string;
  task: string;
  tasks: string[];
  overrides: { containerOverrides: { environment: { name: string; value: string }[] }[] };
}

/** An ECS in which every container starts at once, and is gone as soon as it is asked to stop. */
const containers = ({ containers: all }: Aws, action: string, input: EcsInput): object => {
  const describe = ({ arn, stopped }: StartedContainer) => ({
    taskArn: arn,
    lastStatus: stopped ? 'STOPPED' : 'RUNNING',
  });
  if (action === 'RunTask') {
    const environment = input.overrides.containerOverrides.flatMap((one) => one.environment);
    const started: StartedContainer = {
      arn: `arn:aws:ecs:us-east-1:000000000000:task/c/${all.length + 1}`,
      startedBy: input.startedBy,
      environment: Object.fromEntries(environment.map(({ name, value }) => [name, value])),
    };
    all.push(started);
    return { tasks: [describe(started)], failures: [] };
  }
  if (action === 'ListTasks') {
    const listed = all.filter(
      ({ startedBy, stopped = false }) =>
        startedBy === input.startedBy && stopped === (input.desiredStatus === 'STOPPED'),
    );
    return { taskArns: listed.map(({ arn }) => arn) };
  }
  if (action === 'DescribeTasks') return { tasks: all.filter(({ arn }) => input.tasks.includes(arn)).map(describe) };
  const one = all.find(({ arn }) => arn === input.task);
  if (one) one.stopped = true;
  return {};
};

export const startAws = async (): Promise<Aws> => {
  const database = dynalite({ createTableMs: 0 }) as Server;
  const databasePort = await listen(database);
  let fault: { n: number; when: 'before' | 'after' } | undefined;
  const aws: Aws = {
    sent: [],
    objects: new Objects(),
    containers: [],
    calls: 0,
    itemsRead: 0,
    failCall: (n, when) => {
      fault = { n, when };
    },
    close: async () => {
      for (const each of [server, database]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', async () => {
      await aws.gate?.();
      const body = Buffer.concat(parts);
      const [service = '', action = ''] = String(incoming.headers['x-amz-target']).split('.');
      aws.calls++;
      const fails = fault && --fault.n === 0 ? fault.when : undefined;
      if (fails) fault = undefined;
      if (fails === 'before') return incoming.socket.destroy();
      if (service.startsWith('AWSStepFunctions')) {
        aws.sent.push({ action, input: JSON.parse(body.toString()) });
        if (fails === 'after') return incoming.socket.destroy();
        outgoing.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
        // Executions never end here by themselves.
        return outgoing.end(action === 'DescribeExecution' ? '{"status":"RUNNING"}' : '{}');
      }
      if (service.startsWith('AmazonEC2ContainerService')) {
        const said = containers(aws, action, JSON.parse(body.toString()));
        if (fails === 'after') return incoming.socket.destroy();
        outgoing.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
        return outgoing.end(JSON.stringify(said));
      }
      if (!service.startsWith('DynamoDB_')) {
        aws.objects.serve(incoming, body, fails === 'after' ? new ServerResponse(incoming) : outgoing);
        if (fails === 'after') incoming.socket.destroy();
        return;
      }
      const forwarded = request(
        {
          port: databasePort,
          host: '127.0.0.1',
          method: incoming.method,
          path: incoming.url,
          headers: incoming.headers,
        },
        (answer) => {
          if (fails === 'after') return incoming.socket.destroy();
          const said: Buffer[] = [];
          answer.on('data', (part: Buffer) => said.push(part));
          answer.on('end', () => {
            const text = Buffer.concat(said);
            if (action !== 'UpdateItem') aws.itemsRead += itemsIn(text.toString());
            outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(text);
          });
        },
      );
      forwarded.end(body);
    });
  });
  // An idle connection that is closed while it is used again fails a call, and tests do not try twice.
  server.keepAliveTimeout = 0;
  const port = await listen(server);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_MAX_ATTEMPTS: '1',
    // Tests ask faster than anybody; the limit's own test sets it.
    REQUESTS_PER_SECOND: '1000000',
    TABLE_NAME: 'stepform-test',
    BUCKET_NAME: 'stepform-test',
    CLUSTER_ARN: 'arn:aws:ecs:us-east-1:000000000000:cluster/c',
    TASK_DEFINITION_ARN: 'arn:aws:ecs:us-east-1:000000000000:task-definition/runner:1',
    CONTAINER_NAME: 'runner',
    SUBNETS: 'subnet-1',
    SECURITY_GROUPS: 'sg-1',
    PUBLIC_URL: 'http://127.0.0.1:1',
    STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:000000000000:stateMachine:runs',
  });
  await new DynamoDBClient({ endpoint: `http://127.0.0.1:${databasePort}` }).send(
    new CreateTableCommand({
      TableName: 'stepform-test',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'dueShard', 'dueAt'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'due',
          KeySchema: [
            { AttributeName: 'dueShard', KeyType: 'HASH' },
            { AttributeName: 'dueAt', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  );
  return aws;
};
