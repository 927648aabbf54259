import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { ECSClient, RunTaskCommand } from '@aws-sdk/client-ecs';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { callKms, presign } from '#platform/store/aws.ts';
import { getObject, objectSize, presignGet, putObject } from '#platform/store/bucket.ts';
import { dynamodb } from '#platform/store/dynamodb.ts';
import { states } from '#platform/store/states.ts';
import { tasks } from '#platform/store/tasks.ts';

/** Over HTTP, and in memory. */
const doors = {
  http: { dynamodb: new DynamoDBClient({}), ecs: new ECSClient({}), sfn: new SFNClient({}) },
  memory: { dynamodb: dynamodb(), ecs: tasks(), sfn: states() },
};
type Send = (command: object) => Promise<object>;
// biome-ignore lint/suspicious/noExplicitAny: the event says which command and input
const commands: Record<string, [keyof typeof doors.http, new (input: any) => object]> = {
  BatchGetItem: ['dynamodb', BatchGetItemCommand],
  GetItem: ['dynamodb', GetItemCommand],
  PutItem: ['dynamodb', PutItemCommand],
  UpdateItem: ['dynamodb', UpdateItemCommand],
  Query: ['dynamodb', QueryCommand],
  RunTask: ['ecs', RunTaskCommand],
  StartExecution: ['sfn', StartExecutionCommand],
};
const others: Record<string, (input: string) => Promise<unknown>> = {
  getObject: async (key) => (await getObject(key))?.toString(),
  objectSize,
  putObject: (key) => putObject(key, `content of ${key}`),
  presignGet: (key) => presignGet(key, 60),
  GenerateDataKey: (input) => callKms('GenerateDataKey', input as unknown as object),
  presignPut: async (key) => presign((await presignGet(key, 60)).split('?')[0] as string, 'PUT', 60),
};

interface Order {
  does: string;
  input: unknown;
}

/** Executes the commands in order; an error becomes a result: `{error, message}`. */
export const handler = async (event: {
  orders?: Order[];
  body?: string;
  door?: keyof typeof doors;
}): Promise<unknown> => {
  const clients = doors[event.door ?? 'http'];
  const orders = event.orders ?? (JSON.parse(event.body ?? '[]') as Order[]);
  const answers: unknown[] = [];
  for (const { does, input } of orders) {
    try {
      const command = commands[does];
      if (command) {
        const client = clients[command[0]] as unknown as { send: Send };
        const { $metadata, ...answer } = (await client.send(new command[1](input))) as { $metadata: object };
        answers.push(answer);
      } else answers.push((await others[does]!(input as string)) ?? null);
    } catch (error) {
      answers.push({ error: (error as Error).name, message: (error as Error).message });
    }
  }
  return answers;
};
