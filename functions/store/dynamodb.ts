import {
  type AttributeValue,
  BatchGetItemCommand,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
  DeleteItemCommand,
  type DeleteItemCommandInput,
  type DeleteItemCommandOutput,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  type GetItemCommandInput,
  type GetItemCommandOutput,
  PutItemCommand,
  type PutItemCommandInput,
  type PutItemCommandOutput,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
  type UpdateItemCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { environment } from '../environment.ts';
import { directCall } from './direct-calls.ts';
import { callDirectly } from './direct-json.ts';

/** DynamoDB as table.ts asks it: without the document client, which puts the middleware of a command together for each call. */

interface Operations {
  BatchGetItem: [BatchGetItemCommandInput, BatchGetItemCommandOutput];
  DeleteItem: [DeleteItemCommandInput, DeleteItemCommandOutput];
  GetItem: [GetItemCommandInput, GetItemCommandOutput];
  PutItem: [PutItemCommandInput, PutItemCommandOutput];
  Query: [QueryCommandInput, QueryCommandOutput];
  UpdateItem: [UpdateItemCommandInput, UpdateItemCommandOutput];
}

/** A logger without `info`: for the default one the SDK copies every response, 0.2 ms each, for nothing. */
const nothing = () => {};
const logger = { trace: nothing, debug: nothing, warn: console.warn, error: nothing } as DynamoDBClientConfig['logger'];

/** With `cacheMiddleware` the middleware of a command is put together once instead of for each call, a quarter of what it costs. */
const client = directCall ? undefined : new DynamoDBClient({ logger, cacheMiddleware: true });

const send: { [N in keyof Operations]: (sdk: DynamoDBClient, input: Operations[N][0]) => Promise<Operations[N][1]> } = {
  BatchGetItem: (sdk, input) => sdk.send(new BatchGetItemCommand(input)),
  DeleteItem: (sdk, input) => sdk.send(new DeleteItemCommand(input)),
  GetItem: (sdk, input) => sdk.send(new GetItemCommand(input)),
  PutItem: (sdk, input) => sdk.send(new PutItemCommand(input)),
  Query: (sdk, input) => sdk.send(new QueryCommand(input)),
  UpdateItem: (sdk, input) => sdk.send(new UpdateItemCommand(input)),
};

/**
 * Calls an operation: through the SDK, or straight where the service is in this process. There the SDK would take a quarter
 * of the time that a request takes.
 */
export const dynamodb = <N extends keyof Operations>(
  name: N,
  input: Operations[N][0],
): Promise<Omit<Operations[N][1], '$metadata'>> => {
  if (client) return send[name](client, input);
  const target = `DynamoDB_20120810.${name}`;
  return callDirectly({ service: 'dynamodb', target, maxTries: environment.maxAttempts }, input);
};

export type Attributes = Record<string, AttributeValue>;

export const packed = (item: object): Attributes => marshall(item, { removeUndefinedValues: true });
export const packedIf = (item: object | undefined): Attributes | undefined => item && packed(item);
export const unpacked = <T>(item: Attributes | undefined): T | undefined => item && (unmarshall(item) as T);
