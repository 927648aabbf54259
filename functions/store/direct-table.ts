import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '../environment.ts';
import { type AttributeValues, fromValues, toValues } from './attribute-values.ts';
import { type DirectCall, directCall } from './direct-calls.ts';

/**
 * Commands of the table where calls are direct: the same requests without the SDK's layers, which take several times what
 * the local table does. On AWS every command goes through the SDK.
 */

type Item = Record<string, unknown>;

type Operation = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem';

interface Command {
  input: unknown;
  resolveMiddleware: unknown;
}

const requested = (name: string, value: unknown): unknown => {
  switch (name) {
    case 'Key':
    case 'Item':
    case 'ExclusiveStartKey':
    case 'ExpressionAttributeValues':
      return value && toValues(value as Item);
    case 'RequestItems':
      return Object.fromEntries(
        Object.entries(value as Record<string, { Keys: Item[] }>).map(([table, { Keys, ...rest }]) => [
          table,
          { ...rest, Keys: Keys.map(toValues) },
        ]),
      );
    default:
      return value;
  }
};

const answered = (name: string, value: unknown): unknown => {
  switch (name) {
    case 'Item':
    case 'Attributes':
    case 'LastEvaluatedKey':
      return fromValues(value as AttributeValues);
    case 'Items':
      return (value as AttributeValues[]).map(fromValues);
    case 'Responses':
      return mapped(value as Record<string, AttributeValues[]>, (items) => items.map(fromValues));
    case 'UnprocessedKeys':
      return mapped(value as Record<string, { Keys: AttributeValues[] }>, ({ Keys }) => ({
        Keys: Keys.map(fromValues),
      }));
    default:
      return value;
  }
};

const mapped = <T>(record: Record<string, T>, change: (value: T) => unknown): Item =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

const each = (object: Item, change: (name: string, value: unknown) => unknown): Item =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value)]));

/** As the SDK tells them apart (standard retry mode). */
const isThrottled = /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded|TransactionInProgress/;

const pauseMs = 25;

const attempt = async (call: DirectCall, operation: Operation, body: string): Promise<Item> => {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${operation}` };
  const reply = await call({ service: 'dynamodb', method: 'POST', path: '/', headers, body });
  const answer = JSON.parse(reply.body.toString('utf8') || '{}') as Item;
  if (reply.status === 200) return each(answer, answered);
  const { __type = '', message, Message } = answer as Record<string, string | undefined>;
  const name = __type.split('#').at(-1) || `Http${reply.status}`;
  throw Object.assign(new Error(message ?? Message ?? name), {
    name,
    retried: reply.status >= 500 || isThrottled.test(name),
  });
};

const send = async (call: DirectCall, operation: Operation, input: Item): Promise<Item> => {
  const body = JSON.stringify(each(input, requested));
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(call, operation, body);
    } catch (error) {
      // What has no answer was lost with its connection.
      const { retried = true } = error as { retried?: boolean };
      if (!retried || tries >= environment.maxAttempts) throw error;
    }
    await sleep(Math.random() * pauseMs * 2 ** tries);
  }
};

/** The command itself; where calls are direct, one that the SDK only hands over. */
export const direct = <C extends Command>(operation: Operation, command: C): C => {
  const call = directCall;
  if (!call) return command;
  return Object.assign(command, {
    resolveMiddleware: () => async () => ({ output: await send(call, operation, command.input as Item) }),
  });
};
