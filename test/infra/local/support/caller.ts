import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { ECSClient, RunTaskCommand } from '@aws-sdk/client-ecs';
import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { presign } from '#platform/store/aws.ts';
import { getObject, objectSize, presignGet, putObject } from '#platform/store/bucket.ts';
import { directly } from '#platform/store/direct-calls.ts';

/** Over HTTP, and in memory. */
const doors = {
  http: {
    dynamodb: new DynamoDBClient({}),
    ecs: new ECSClient({}),
    kms: new KMSClient({}),
    sfn: new SFNClient({}),
  },
  memory: {
    dynamodb: new DynamoDBClient(directly('dynamodb')),
    ecs: new ECSClient(directly('ecs')),
    kms: new KMSClient(directly('kms')),
    sfn: new SFNClient(directly('states')),
  },
};
type Send = (command: object) => Promise<object>;
// biome-ignore lint/suspicious/noExplicitAny: the event says which command and input
const commands: Record<string, [keyof typeof doors.http, new (input: any) => object]> = {
  GetItem: ['dynamodb', GetItemCommand],
  PutItem: ['dynamodb', PutItemCommand],
  UpdateItem: ['dynamodb', UpdateItemCommand],
  Query: ['dynamodb', QueryCommand],
  RunTask: ['ecs', RunTaskCommand],
  GenerateDataKey: ['kms', GenerateDataKeyCommand],
  Decrypt: ['kms', DecryptCommand],
  StartExecution: ['sfn', StartExecutionCommand],
};
const objects: Record<string, (key: string) => Promise<unknown>> = {
  getObject: async (key) => (await getObject(key))?.toString(),
  objectSize,
  putObject: (key) => putObject(key, `content of ${key}`),
  presignGet: (key) => presignGet(key, 60),
  presignPut: async (key) => presign('s3', (await presignGet(key, 60)).split('?')[0] as string, 'PUT', 60),
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
      } else answers.push((await objects[does]!(input as string)) ?? null);
    } catch (error) {
      answers.push({ error: (error as Error).name, message: (error as Error).message });
    }
  }
  return answers;
};
