import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { undoAfterFile } from './undo.ts';

/** One for all: to note where each was thrown takes longer than to answer a read. */
const frozenError = Object.assign(new Error('The table is frozen.'), { name: 'FrozenError' });

export interface Frozen {
  /** Requests that read, since then. */
  reads: number;
  thaw(): void;
}

/**
 * Freezes what is in the table, for tests that ask the API ten thousand times: a read is answered as the first of its
 * kind was, and writes fail, as internal errors. By hand: a spy would keep a hundred thousand calls.
 */
export const freeze = (): Frozen => {
  // biome-ignore lint/suspicious/noExplicitAny: commands of any kind
  const client = DynamoDBClient.prototype as { send(this: unknown, command: any): Promise<any> };
  const { send } = client;
  const { error } = console;
  const { stackTraceLimit } = Error;
  const answers = new Map<string, Promise<unknown>>();
  const frozen: Frozen = {
    reads: 0,
    thaw: () => {
      client.send = send;
      console.error = error;
      Error.stackTraceLimit = stackTraceLimit;
    },
  };
  undoAfterFile(frozen.thaw);
  client.send = async function (this: unknown, command) {
    const { name } = command.constructor;
    // The trail says who was refused, and changes nothing else.
    if (command.input.Item?.pk.S.startsWith('AUDIT#')) return Promise.resolve({});
    if (!/^(Get|BatchGet|Query)/.test(name)) throw frozenError;
    frozen.reads++;
    const key = `${name} ${JSON.stringify(command.input)}`;
    const answer = answers.get(key) ?? send.call(this, command);
    answers.set(key, answer);
    return answer;
  };
  // Those failures are logged, and each refusal is an error: where it was made takes as long as to come there.
  console.error = () => {};
  Error.stackTraceLimit = 0;
  return frozen;
};
