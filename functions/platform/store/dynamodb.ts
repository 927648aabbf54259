import { type AttributeValue, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { requestHandler } from './patience.ts';
import { local, type Services } from './services.ts';

/** DynamoDB for table.ts: without the document client, which builds a command's middleware for each call. */

/** A logger without `info`: for the default logger the SDK copies every response, which wastes 0.2 ms each. */
const nothing = () => {};
const logger = { trace: nothing, debug: nothing, warn: console.warn, error: nothing } as DynamoDBClientConfig['logger'];

/**
 * With `cacheMiddleware` the SDK builds a command's middleware once instead of for each call, which saves a quarter of
 * the cost.
 */
const client = local() ? undefined : new DynamoDBClient({ logger, cacheMiddleware: true, requestHandler });

export const dynamodb = (): Services['table'] => local()?.table ?? (client as DynamoDBClient);

export type Attributes = Record<string, AttributeValue>;

export const packed = (item: object): Attributes => marshall(item, { removeUndefinedValues: true });
export const packedIf = (item: object | undefined): Attributes | undefined => item && packed(item);
export const unpacked = <T>(item: Attributes | undefined): T | undefined => item && (unmarshall(item) as T);
