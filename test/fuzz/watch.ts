import type { AttributeValue, GetItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { addLayer, type TableCall } from '#test/support/table-layers.ts';

/** Records changes of the table, to find changes that a rejected request left. */

interface Writing {
  TableName: string;
  Key?: Record<string, AttributeValue>;
  Item?: Record<string, AttributeValue>;
}

interface Key {
  pk: string;
  sk: string;
}

/** Items that any request may change: the audit trail, request counts, and the use of a token. */
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
  /** Forgets all earlier changes. */
  begin(): void;
  /** Keys of items that differ from the beginning. */
  changed(): Promise<string[]>;
  stop(): void;
}

export const watchTable = (): Watch => {
  let before = new Map<string, { key: Key; text: Promise<string> }>();
  let call: TableCall | undefined;
  let table = '';
  const read = async (key: Key): Promise<string> => {
    if (!call) throw new Error('no call was seen yet');
    const input = { TableName: table, Key: marshall(key), ConsistentRead: true };
    const { Item } = (await call('GetItem', input)) as GetItemCommandOutput;
    return textOf(Item && unmarshall(Item));
  };
  const removeLayer = addLayer(async (operation, input, next) => {
    if (!/^(Put|Update|Delete)Item$/.test(operation)) return next(operation, input);
    call = next;
    const { TableName, Key, Item = {} } = input as Writing;
    table = TableName;
    const { pk, sk } = unmarshall(Key ?? { pk: Item.pk as AttributeValue, sk: Item.sk as AttributeValue });
    const name = `${pk} ${sk}`;
    if (!ofEveryRequest.test(pk) && !before.has(name)) before.set(name, { key: { pk, sk }, text: read({ pk, sk }) });
    await before.get(name)?.text;
    return next(operation, input);
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
