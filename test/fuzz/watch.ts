import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { DirectCall } from '../../functions/store/direct-calls.ts';
import { addLayer, tableOperation } from '../support/direct-layers.ts';

/**
 * Watches what changes in the table, so that after a refused request it can be said whether anything is left of it.
 */

interface Key {
  pk: string;
  sk: string;
}

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
  let before = new Map<string, { key: Key; text: Promise<string> }>();
  let call: DirectCall | undefined;
  let table = '';
  const read = async (key: Key): Promise<string> => {
    if (!call) throw new Error('no call was seen yet');
    const body = JSON.stringify({ TableName: table, Key: marshall(key), ConsistentRead: true });
    const headers = { 'x-amz-target': 'DynamoDB_20120810.GetItem' };
    const reply = await call({ service: 'dynamodb', method: 'POST', path: '/', headers, body });
    const { Item } = JSON.parse(reply.body.toString());
    return textOf(Item && unmarshall(Item));
  };
  const removeLayer = addLayer(async (request, next) => {
    if (!/^(Put|Update|Delete)Item$/.test(tableOperation(request) ?? '')) return next(request);
    const input = JSON.parse(String(request.body));
    call = next;
    table = input.TableName;
    const { pk, sk } = unmarshall(input.Key ?? { pk: input.Item.pk, sk: input.Item.sk });
    const name = `${pk} ${sk}`;
    if (!ofEveryRequest.test(pk) && !before.has(name)) before.set(name, { key: { pk, sk }, text: read({ pk, sk }) });
    await before.get(name)?.text;
    return next(request);
  });
  return {
    begin: () => {
      before = new Map();
    },
    changed: async () => {
      const names: string[] = [];
      for (const [name, { key, text }] of before) if ((await read(key)) !== (await text)) names.push(name);
      return names;
    },
    stop: removeLayer,
  };
};
