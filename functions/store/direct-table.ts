import { setTimeout as sleep } from 'node:timers/promises';
import { environment } from '../environment.ts';
import { type DirectCall, directCall } from './direct-calls.ts';

/**
 * Commands of the table where calls are direct: the same requests without the SDK's layers, which take several times what
 * the local table does. On AWS every command goes through the SDK.
 */

type Operation = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem';

interface Command {
  input: unknown;
  resolveMiddleware: unknown;
}

type Answer = Record<string, unknown>;

/** As the SDK tells them apart (standard retry mode). */
const isThrottled = /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded/;

const pauseMs = 25;

const attempt = async (call: DirectCall, operation: Operation, body: string): Promise<Answer> => {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${operation}` };
  const reply = await call({ service: 'dynamodb', method: 'POST', path: '/', headers, body });
  const answer = JSON.parse(reply.body.toString('utf8') || '{}') as Answer;
  if (reply.status === 200) return answer;
  const { __type = '', message, Message } = answer as Record<string, string | undefined>;
  const name = __type.split('#').at(-1) || `Http${reply.status}`;
  const isTemporary = reply.status >= 500 || isThrottled.test(name);
  throw Object.assign(new Error(message ?? Message ?? name), { name, isTemporary });
};

const send = async (call: DirectCall, operation: Operation, input: unknown): Promise<Answer> => {
  const body = JSON.stringify(input);
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(call, operation, body);
    } catch (error) {
      // What has no answer was lost with its connection.
      const { isTemporary = true } = error as { isTemporary?: boolean };
      if (!isTemporary || tries >= environment.maxAttempts) throw error;
    }
    await sleep(Math.random() * pauseMs * 2 ** tries);
  }
};

/** The command itself; where calls are direct, one that the SDK's client only hands over. */
export const direct = <C extends Command>(operation: Operation, command: C): C => {
  const call = directCall;
  if (!call) return command;
  // The client keeps it for the next command of this kind.
  const handler = async ({ input }: Command) => ({ output: await send(call, operation, input) });
  return Object.assign(command, { resolveMiddleware: () => handler });
};
