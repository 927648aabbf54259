import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DirectCall } from '../../functions/store/direct-calls.ts';
import { undoAfterFile } from './undo.ts';

/**
 * Commands of DynamoDB without the SDK's layers, which take several times what the table in memory does. Tests that sign
 * their calls (test/infra/sdk.test.ts), that try them again, and those of a whole platform have the SDK between.
 */

interface Command {
  input: object;
}

/** The SDK's way, which everything takes again after `restore`. */
// biome-ignore lint/suspicious/noExplicitAny: commands of any kind
const client = DynamoDBClient.prototype as { send(this: unknown, command: any): Promise<any> };
const { send } = client;

const hasBytes = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Uint8Array) return true;
  for (const name in value) if (hasBytes((value as Record<string, unknown>)[name])) return true;
  return false;
};

/** Before a Buffer writes itself as an object. */
function bytesAsText(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const bytes = this[name];
  if (!(bytes instanceof Uint8Array)) return value;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

const textAsBytes = (name: string, value: unknown): unknown =>
  name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;

const written = (input: object): string =>
  hasBytes(input) ? JSON.stringify(input, bytesAsText) : JSON.stringify(input);

const read = (text: string): Record<string, unknown> =>
  text.includes('"B":') ? JSON.parse(text, textAsBytes) : JSON.parse(text);

/** Hands commands over to `call`. */
export const handOver = (call: DirectCall): void => {
  undoAfterFile(sendAgain);
  client.send = async (command: Command) => {
    const operation = command.constructor.name.replace(/Command$/, '');
    const { status, body } = await call({
      service: 'dynamodb',
      method: 'POST',
      path: '/',
      headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
      body: written(command.input),
    });
    const answer = read(body.toString());
    if (status === 200) return answer;
    throw Object.assign(new Error(String(answer.message)), { name: String(answer.__type), $fault: 'client' });
  };
};

/** From now on the SDK sends them. */
export const sendAgain = (): void => {
  client.send = send;
};
