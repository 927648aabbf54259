import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';

/**
 * Watches what changes in the table, so that after a refused request it can be said whether anything is left of it.
 */

interface Key {
  pk: string;
  sk: string;
}

// biome-ignore lint/suspicious/noExplicitAny: commands of any kind
type Command = any;

/** What may change whatever comes of a request: who asked, how often, and that a token was used. */
const ofEveryRequest = /^(AUDIT|REQUESTS|LOGIN)#/;
const usual = ['lastUsedAt'];

const textOf = (item: Record<string, unknown> | undefined): string => {
  if (!item) return '';
  const rest = Object.entries(item).filter(([name]) => !usual.includes(name));
  return JSON.stringify(
    rest.sort(([a], [b]) => (a < b ? -1 : 1)),
    (_, value) => (value instanceof Set ? [...value].sort() : value),
  );
};

export interface Watch {
  /** Forgets what was seen so far. */
  begin(): void;
  /** Keys of items that are not as they were at the beginning. */
  changed(): Promise<string[]>;
  stop(): void;
}

export const watchTable = (): Watch => {
  const client = DynamoDBClient.prototype as { send(this: unknown, command: Command): Promise<Command> };
  const { send } = client;
  let before = new Map<string, { key: Key; text: Promise<string> }>();
  let asked: unknown;
  let table = '';
  const read = async (key: Key): Promise<string> => {
    const input = { TableName: table, Key: marshall(key), ConsistentRead: true };
    const { Item } = await send.call(asked, new GetItemCommand(input));
    return textOf(Item && unmarshall(Item));
  };
  client.send = async function (this: unknown, command: Command) {
    if (!/^(Put|Update|Delete)ItemCommand$/.test(command.constructor.name)) return send.call(this, command);
    asked = this;
    table = command.input.TableName;
    const { pk, sk } = unmarshall(command.input.Key ?? command.input.Item);
    const name = `${pk} ${sk}`;
    if (!ofEveryRequest.test(pk) && !before.has(name)) before.set(name, { key: { pk, sk }, text: read({ pk, sk }) });
    await before.get(name)?.text;
    return send.call(this, command);
  };
  return {
    begin: () => {
      before = new Map();
    },
    changed: async () => {
      const names: string[] = [];
      for (const [name, { key, text }] of before) if ((await read(key)) !== (await text)) names.push(name);
      return names;
    },
    stop: () => {
      client.send = send;
    },
  };
};
