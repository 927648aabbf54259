import { type AttributeValue, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { directly, withoutNetwork } from './direct-calls.ts';

/** DynamoDB as table.ts asks it: without the document client, which puts the middleware of a command together for each call. */

/** A logger without `info`: for the default one the SDK copies every response, 0.2 ms each, for nothing. */
const nothing = () => {};
const logger = { trace: nothing, debug: nothing, warn: console.warn, error: nothing } as DynamoDBClientConfig['logger'];

/** With `cacheMiddleware` the middleware of a command is put together once instead of for each call, a quarter of what it costs. */
export const client = withoutNetwork(new DynamoDBClient({ logger, cacheMiddleware: true, ...directly('dynamodb') }));

export type Attributes = Record<string, AttributeValue>;

export const packed = (item: object): Attributes => marshall(item, { removeUndefinedValues: true });
export const packedIf = (item: object | undefined): Attributes | undefined => item && packed(item);
export const unpacked = <T>(item: Attributes | undefined): T | undefined => item && (unmarshall(item) as T);
