import { AwsError } from '#infra/local/host/errors.ts';
import { type Item, invalid } from './attributes.ts';
import { Expressions, type Input } from './expressions.ts';
import { checkIndexKeys, checkParameters, choice, readKey, readWholeItem } from './requests.ts';
import type { Row, Table } from './table.ts';

export interface Outcome {
  output: Record<string, unknown>;
  units: number;
  /** Partitions that a read depends on; absent: any. */
  partitions?: string[];
}

export type TableOf = (name: unknown) => Table;

const checkCondition = (expressions: Expressions, before: Row | undefined): void => {
  if (!expressions.holds('ConditionExpression', before?.item ?? {}))
    throw new AwsError('ConditionalCheckFailedException', 'The conditional request failed');
};

const attributes = (item: Item | undefined) => (item ? { Attributes: item } : {});

export const putItem = (input: Input, tableOf: TableOf): Outcome => {
  const table = tableOf(input.TableName);
  const expressions = new Expressions(input);
  const returned = choice(input, 'ReturnValues', ['NONE', 'ALL_OLD']);
  const item = readWholeItem(table, input.Item);
  const before = table.get(item);
  checkCondition(expressions, before);
  const units = table.replace(before, item);
  return { output: returned === 'ALL_OLD' ? attributes(before?.item) : {}, units };
};

export const deleteItem = (input: Input, tableOf: TableOf): Outcome => {
  const table = tableOf(input.TableName);
  const expressions = new Expressions(input);
  const returned = choice(input, 'ReturnValues', ['NONE', 'ALL_OLD']);
  const before = table.get(readKey(table, input.Key));
  checkCondition(expressions, before);
  const units = table.replace(before, undefined);
  return { output: returned === 'ALL_OLD' ? attributes(before?.item) : {}, units };
};

export const updateItem = (input: Input, tableOf: TableOf): Outcome => {
  const table = tableOf(input.TableName);
  const expressions = new Expressions(input);
  const returned = choice(input, 'ReturnValues', ['NONE', 'ALL_NEW', 'ALL_OLD']);
  const key = readKey(table, input.Key);
  for (const name of expressions.changedAttributes)
    if (Object.hasOwn(key, name))
      throw invalid(
        `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
      );
  const before = table.get(key);
  checkCondition(expressions, before);
  const after = before ? expressions.copyForUpdate(before.item) : key;
  expressions.applyUpdate(after);
  checkIndexKeys(table, after);
  const units = table.replace(before, after);
  if (returned === 'NONE') return { output: {}, units };
  return { output: attributes(returned === 'ALL_NEW' ? after : before?.item), units };
};

/** DynamoDB: BatchWriteItem. */
const maxBatch = 25;

export const batchWriteItem = (input: Input, tableOf: TableOf): Outcome => {
  const requests = Object.entries((input.RequestItems ?? {}) as Record<string, Input[]>).flatMap(([name, list]) => {
    const table = tableOf(name);
    return list.map((request) => ({ table, request }));
  });
  if (requests.length === 0 || requests.length > maxBatch)
    throw invalid(`A batch has from 1 to ${maxBatch} requests; this one has ${requests.length}`);
  const changes = requests.map(({ table, request }) => {
    checkParameters('BatchWriteItem', request, ['PutRequest', 'DeleteRequest']);
    const { PutRequest, DeleteRequest } = request as { PutRequest?: Input; DeleteRequest?: Input };
    const item = PutRequest && readWholeItem(table, PutRequest.Item);
    return { table, item, key: item ?? readKey(table, DeleteRequest?.Key) };
  });
  const write = () => changes.reduce((units, { table, item, key }) => units + table.replace(table.get(key), item), 0);
  return { output: { UnprocessedItems: {} }, units: (requests[0] as { table: Table }).table.atomically(write) };
};
