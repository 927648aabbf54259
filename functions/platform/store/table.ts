import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { environment } from '#platform/environment.ts';
import { withRecord } from './change-record.ts';
import { type Attributes, dynamodb, packed, packedIf, unpacked } from './dynamodb.ts';
import { aliased, both, conditionOf } from './expressions.ts';
import type { Key } from './keys.ts';

/**
 * The one table, through the AWS SDK (decisions/0005). Every change is one conditional write of one item. A failed
 * condition is a result (`undefined` or `false`), never an exception, because the caller always has to handle it.
 */

type Item = Record<string, unknown>;
const reads = new AsyncLocalStorage<{ count: number }>();

/** Counts the reads within each call. */
export const countingReads =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  (...args: A): Promise<R> =>
    reads.run({ count: 0 }, () => work(...args));

export const readCount = (): number => reads.getStore()?.count ?? 0;

const countRead = (): void => {
  const counted = reads.getStore();
  if (counted) counted.count++;
};

export interface Change {
  /** Paths with dots reach into maps: `{'plan.status': 'running'}`. Undefined values are left out. */
  set?: Item;
  remove?: string[];
  /** Added to a number; or members added to a set, which is created if missing. */
  add?: Record<string, number | Set<string>>;
  /** Members of a set; an empty set is removed. */
  delete?: Record<string, Set<string>>;
  /**
   * Condition with plain attribute paths (`plan.claimHash = :hash`; reserved words are aliased), and values as `:a`,
   * from `values`. A `#a` is resolved by `names`.
   */
  condition?: string;
  names?: Record<string, string>;
  values?: Item;
  /** Returns the item as it was before the change. */
  returnsOld?: boolean;
}

const nonEmpty = <T extends object>(object: T): T | undefined => (Object.keys(object).length ? object : undefined);

const whenTrue = async <T>(write: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await withRecord(write);
  } catch (error) {
    if ((error as Error).name === 'ConditionalCheckFailedException') return undefined;
    throw error;
  }
};

/**
 * Whether an item can have this key: DynamoDB rejects longer ones (DynamoDB: constraints), and names in requests, which
 * become parts of keys, have any length.
 */
const isPossible = ({ pk, sk }: Key): boolean => Buffer.byteLength(pk) <= 2048 && Buffer.byteLength(sk) <= 1024;

/** Strongly consistent by default (1 read unit per 4 KB). */
export const get = async <T>(key: Key, consistent = true): Promise<T | undefined> => {
  countRead();
  if (!isPossible(key)) return undefined;
  const input = { TableName: environment.tableName, Key: packed(key), ConsistentRead: consistent };
  const { Item } = await dynamodb().send(new GetItemCommand(input));
  return unpacked<T>(Item);
};

/** Returns false if the condition does not hold. */
export const put = async (
  item: Key & Item,
  condition?: Pick<Change, 'condition' | 'names' | 'values'>,
): Promise<boolean> => {
  const names: Record<string, string> = { ...condition?.names };
  const ConditionExpression = conditionOf(condition?.condition, names);
  const done = await whenTrue(() =>
    dynamodb().send(
      new PutItemCommand({
        TableName: environment.tableName,
        Item: packed(item),
        ConditionExpression,
        ExpressionAttributeNames: nonEmpty(names),
        ExpressionAttributeValues: packedIf(condition?.values),
      }),
    ),
  );
  return done !== undefined;
};

/** True if the item was created, false if it already exists. */
export const create = (item: Key & Item): Promise<boolean> => put(item, { condition: 'attribute_not_exists(pk)' });

/**
 * Returns the whole item after the change by default, or undefined if the condition does not hold. An empty change has
 * no effect, and does not create an item.
 */
export const update = async <T>(key: Key, change: Change): Promise<T | undefined> => {
  const names: Record<string, string> = { ...change.names };
  const values: Item = { ...change.values };
  const path = (dotted: string) => aliased(dotted, names);
  let n = 0;
  const value = (v: unknown) => {
    const name = `:v${n++}`;
    values[name] = v;
    return name;
  };
  const clauses: string[] = [];
  const sets = Object.entries(change.set ?? {}).filter(([, v]) => v !== undefined);
  if (sets.length) clauses.push(`SET ${sets.map(([k, v]) => `${path(k)} = ${value(v)}`).join(', ')}`);
  if (change.remove?.length) clauses.push(`REMOVE ${change.remove.map(path).join(', ')}`);
  const adds = Object.entries(change.add ?? {});
  if (adds.length) clauses.push(`ADD ${adds.map(([k, v]) => `${path(k)} ${value(v)}`).join(', ')}`);
  const deletes = Object.entries(change.delete ?? {});
  if (deletes.length) clauses.push(`DELETE ${deletes.map(([k, v]) => `${path(k)} ${value(v)}`).join(', ')}`);
  // Without a clause DynamoDB would create the item, and it rejects an empty expression.
  const condition = clauses.length ? change.condition : (change.condition ?? 'attribute_exists(pk)');
  const ConditionExpression = conditionOf(condition, names);
  const done = await whenTrue(() =>
    dynamodb().send(
      new UpdateItemCommand({
        TableName: environment.tableName,
        Key: packed(key),
        UpdateExpression: clauses.join(' ') || undefined,
        ConditionExpression,
        ExpressionAttributeNames: nonEmpty(names),
        ExpressionAttributeValues: packedIf(nonEmpty(values)),
        ReturnValues: change.returnsOld ? 'ALL_OLD' : 'ALL_NEW',
      }),
    ),
  );
  return unpacked<T>(done?.Attributes);
};

/** Changes an item; undefined if it does not exist, or the condition does not hold. */
export const updateExisting = <T>(key: Key, { condition, ...change }: Change): Promise<T | undefined> =>
  update<T>(key, { ...change, condition: both('attribute_exists(pk)', condition) });

/** True if the item existed (and the condition held). */
export const remove = async (
  key: Key,
  condition?: Pick<Change, 'condition' | 'names' | 'values'>,
): Promise<boolean> => {
  const names: Record<string, string> = { ...condition?.names };
  const ConditionExpression = conditionOf(condition?.condition ?? 'attribute_exists(pk)', names);
  const done = await whenTrue(() =>
    dynamodb().send(
      new DeleteItemCommand({
        TableName: environment.tableName,
        Key: packed(key),
        ConditionExpression,
        ExpressionAttributeNames: nonEmpty(names),
        ExpressionAttributeValues: packedIf(condition?.values),
      }),
    ),
  );
  return done !== undefined;
};

/** Partition and sort key of each index. */
const indexes = { due: ['dueShard', 'dueAt'], changed: ['changedIn', 'changedAt'] } as const;

export interface Range {
  pk: string;
  /** Prefix of sort keys. */
  prefix?: string;
  /** Inclusive; used instead of `prefix`. */
  from?: string;
  to?: string;
  /** Starts after this sort key, in the direction of the read. */
  after?: string;
  limit?: number;
  reverse?: boolean;
  /** Secondary index; reads are eventually consistent. */
  index?: keyof typeof indexes;
  consistent?: boolean;
}

/**
 * `limit` items, fewer only at the end of the range: DynamoDB's own pages end after 1 MB. Every item without a limit.
 */
export const query = async <T>(range: Range): Promise<T[]> => {
  const { after, limit = Number.POSITIVE_INFINITY, pk } = range;
  if (!isPossible({ pk, sk: range.prefix ?? range.from ?? '' })) return [];
  const all: T[] = [];
  let next = packedIf(after === undefined ? undefined : { pk, sk: after });
  do {
    const left = limit - all.length;
    const answer: Page<T> = await page<T>({ ...range, limit: Number.isFinite(left) ? left : undefined }, next);
    all.push(...answer.items);
    next = answer.next;
  } while (next && all.length < limit);
  return all;
};

/** Every item of the range. For lists whose length users determine. */
export const queryAll = <T>(range: Omit<Range, 'limit'>): Promise<T[]> => query<T>(range);

interface Page<T> {
  items: T[];
  next?: Attributes;
}

const page = async <T>(range: Range, start?: Attributes): Promise<Page<T>> => {
  // DynamoDB rejects an empty interval.
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) return { items: [] };
  const [partition, sort] = range.index ? indexes[range.index] : ['pk', 'sk'];
  const names: Record<string, string> = { '#pk': partition };
  const values: Item = { ':pk': range.pk };
  let condition = '#pk = :pk';
  if (range.prefix !== undefined) {
    names['#sk'] = sort;
    values[':prefix'] = range.prefix;
    condition += ' AND begins_with(#sk, :prefix)';
  } else if (range.from !== undefined || range.to !== undefined) {
    names['#sk'] = sort;
    if (range.from !== undefined) values[':from'] = range.from;
    if (range.to !== undefined) values[':to'] = range.to;
    if (range.from !== undefined && range.to !== undefined) condition += ' AND #sk BETWEEN :from AND :to';
    else condition += range.from !== undefined ? ' AND #sk >= :from' : ' AND #sk <= :to';
  }
  countRead();
  const { Items = [], LastEvaluatedKey } = await dynamodb().send(
    new QueryCommand({
      TableName: environment.tableName,
      IndexName: range.index,
      KeyConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: packed(values),
      ExclusiveStartKey: start,
      Limit: range.limit,
      ScanIndexForward: !range.reverse,
      ConsistentRead: range.index ? undefined : (range.consistent ?? true),
    }),
  );
  return { items: Items.map((item) => unmarshall(item) as T), next: LastEvaluatedKey };
};

/** Maximum number of keys in one request to DynamoDB. */
const maxKeys = 100;

/** Items in the order of the keys; missing ones are left out. 1 read for 100 keys. */
export const batchGet = async <T extends Key>(keys: Key[]): Promise<T[]> => {
  const items: T[] = [];
  for (let i = 0; i < keys.length; i += maxKeys) items.push(...(await getBatch<T>(keys.slice(i, i + maxKeys))));
  return items;
};

/** The partition of some keys is throttled, for longer than a request can wait. */
export class TableThrottledError extends Error {
  override name = 'TableThrottledError';
}

/** Some 6 s in all, and at most 13: less than the time limit of the functions behind the API. */
const maxBatchTries = 12;

/**
 * DynamoDB leaves keys of a throttled partition unprocessed; repeating the request at once would throttle it again
 * (DynamoDB API: BatchGetItem).
 */
const backoff = (tries: number): Promise<void> => sleep(Math.random() * Math.min(50 * 2 ** tries, 2000));

const getBatch = async <T extends Key>(keys: Key[]): Promise<T[]> => {
  const byKey = new Map<string, T>();
  const distinct = new Map(keys.filter(isPossible).map(({ pk, sk }) => [`${pk} ${sk}`, { pk, sk }]));
  let pending = [...distinct.values()].map(packed);
  for (let tries = 0; pending.length; tries++) {
    if (tries >= maxBatchTries)
      throw new TableThrottledError(`the table is throttled: ${pending.length} items could not be read`);
    if (tries) await backoff(tries);
    countRead();
    const answer = await dynamodb().send(
      new BatchGetItemCommand({
        RequestItems: { [environment.tableName]: { Keys: pending, ConsistentRead: true } },
      }),
    );
    for (const attributes of answer.Responses?.[environment.tableName] ?? []) {
      const item = unmarshall(attributes) as T;
      byKey.set(`${item.pk} ${item.sk}`, item);
    }
    pending = answer.UnprocessedKeys?.[environment.tableName]?.Keys ?? [];
  }
  return keys.flatMap(({ pk, sk }) => byKey.get(`${pk} ${sk}`) ?? []);
};
