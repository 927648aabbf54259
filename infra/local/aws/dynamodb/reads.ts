import { type Attribute, attributeOf, type Item, invalid } from './attributes.ts';
import { type Condition, compares } from './conditions.ts';
import { Expressions, type Input } from './expressions.ts';
import { checkParameters, choice, flag, limitOf, readKey, readStart } from './requests.ts';
import { nameIn, type Scope, valueIn } from './scope.ts';
import { endOfPrefix, type Index, type Range, type Row, type Table } from './table.ts';
import type { Outcome, TableOf } from './writes.ts';

/** Per 4 KB; half as many for eventually consistent reads (DynamoDB: read consistency). */
const readUnits = (size: number, consistent: boolean): number =>
  Math.max(1, Math.ceil(size / 4096)) * (consistent ? 1 : 0.5);

const partitionOf = ({ description: { keys } }: Table, item: Item): string => attributeOf(item, keys.hash)?.S as string;

export const getItem = (input: Input, tableOf: TableOf): Outcome => {
  const table = tableOf(input.TableName);
  const consistent = flag(input, 'ConsistentRead') ?? false;
  const key = readKey(table, input.Key);
  const row = table.get(key);
  const output = row ? { Item: row.item } : {};
  return { output, units: readUnits(row?.size ?? 0, consistent), partitions: [partitionOf(table, key)] };
};

/** DynamoDB: BatchGetItem. */
const maxKeys = 100;
const maxBatchBytes = 16 * 1024 * 1024;

export const batchGetItem = (input: Input, tableOf: TableOf): Outcome => {
  const requests = Object.entries((input.RequestItems ?? {}) as Record<string, Input>);
  const count = requests.reduce((sum, [, { Keys }]) => sum + ((Keys as unknown[] | undefined)?.length ?? 0), 0);
  if (count === 0 || count > maxKeys) throw invalid(`A batch has from 1 to ${maxKeys} keys; this one has ${count}`);
  let [units, bytes] = [0, 0];
  const responses: Record<string, Item[]> = {};
  const partitions: string[] = [];
  const unprocessed: Record<string, object> = {};
  for (const [name, request] of requests) {
    checkParameters('BatchGetItem', request, ['Keys', 'ConsistentRead']);
    const table = tableOf(name);
    const consistent = flag(request, 'ConsistentRead') ?? false;
    const keys = (request.Keys as unknown[]).map((key) => readKey(table, key));
    if (new Set(keys.map((key) => JSON.stringify(key))).size < keys.length)
      throw invalid('Provided list of item keys contains duplicates');
    const items: Item[] = [];
    const left: Item[] = [];
    for (const key of keys) {
      partitions.push(partitionOf(table, key));
      const row = table.get(key);
      if (row && bytes + row.size > maxBatchBytes) {
        left.push(key);
        continue;
      }
      bytes += row?.size ?? 0;
      units += readUnits(row?.size ?? 0, consistent);
      if (row) items.push(row.item);
    }
    responses[name] = items;
    if (left.length) unprocessed[name] = { Keys: left, ConsistentRead: consistent };
  }
  return { output: { Responses: responses, UnprocessedKeys: unprocessed }, units, partitions };
};

export const query = (input: Input, tableOf: TableOf): Outcome => {
  const table = tableOf(input.TableName);
  const expressions = new Expressions(input);
  const index = indexOf(table, input.IndexName);
  const consistent = flag(input, 'ConsistentRead') ?? false;
  if (index && consistent) throw invalid('Consistent reads are not supported on global secondary indexes');
  const condition = expressions.condition('KeyConditionExpression');
  if (!condition)
    throw invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.');
  const range = rangeOf(condition, table, index, expressions.scope);
  const start = readStart(table, index, input.ExclusiveStartKey);
  if (start) checkStart(start, table, index, range);
  const limit = limitOf(input);
  const rows = table.query({
    ...range,
    index,
    after: start && startKey(start, table, index),
    reverse: flag(input, 'ScanIndexForward') === false,
    limit,
  });
  const found = page(rows, { input, expressions, limit, consistent, keyNames: keyNames(table, index) });
  return index ? found : { ...found, partitions: [range.hash] };
};

export const scan = (input: Input, tableOf: TableOf): Outcome => {
  const table = tableOf(input.TableName);
  const expressions = new Expressions(input);
  const consistent = flag(input, 'ConsistentRead') ?? false;
  const rows = table.scan(readStart(table, undefined, input.ExclusiveStartKey));
  return page(rows, { input, expressions, limit: limitOf(input), consistent, keyNames: keyNames(table, undefined) });
};

/** DynamoDB: a page ends after 1 MB. */
const maxPageBytes = 1024 * 1024;

interface PageOptions {
  input: Input;
  expressions: Expressions;
  limit: number | undefined;
  consistent: boolean;
  keyNames: string[];
}

const page = (rows: Iterable<Row>, { input, expressions, limit, consistent, keyNames }: PageOptions): Outcome => {
  const selected = choice(input, 'Select', ['', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES', 'COUNT']);
  const items: Item[] = [];
  let [count, bytes] = [0, 0];
  let last: Item | undefined;
  for (const { item, size } of rows) {
    count++;
    bytes += size;
    if (expressions.holds('FilterExpression', item)) items.push(item);
    if (count === limit || bytes >= maxPageBytes) {
      last = item;
      break;
    }
  }
  const output = {
    Count: items.length,
    ScannedCount: count,
    ...(selected === 'COUNT' ? {} : { Items: items }),
    ...(last ? { LastEvaluatedKey: pick(last, keyNames) } : {}),
  };
  return { output, units: readUnits(bytes, consistent) };
};

const pick = (item: Item, names: string[]): Item =>
  Object.fromEntries(names.map((name) => [name, item[name] as Attribute]));

const keyNames = ({ description: { keys } }: Table, index: Index | undefined): string[] =>
  [keys.hash, keys.range, index?.keys.hash, index?.keys.range].filter((name) => name !== undefined);

const indexOf = ({ description }: Table, name: unknown): Index | undefined => {
  if (name === undefined || name === null) return undefined;
  const index = description.indexes.find((one) => one.name === name);
  if (!index) throw invalid(`The table does not have the specified index: ${name}`);
  return index;
};

const startKey = (start: Item, { description: { keys } }: Table, index: Index | undefined): string[] => {
  const text = (name: string | undefined) => (name === undefined ? '' : (attributeOf(start, name)?.S as string));
  return index ? [text(index.keys.range), text(keys.hash), text(keys.range)] : [text(keys.range)];
};

/** @throws AwsError if a page would begin outside the requested range */
const checkStart = (start: Item, { description }: Table, index: Index | undefined, range: Range): void => {
  const { hash, range: sort } = index?.keys ?? description.keys;
  const text = sort === undefined ? '' : (attributeOf(start, sort)?.S as string);
  const after = (bound: string | undefined) =>
    bound === undefined ? undefined : compares({ S: text }, '>=', { S: bound });
  const { from, to, above, below } = range;
  const isOutside =
    attributeOf(start, hash)?.S !== range.hash ||
    after(from) === false ||
    after(below) === true ||
    (above !== undefined && !compares({ S: text }, '>', { S: above })) ||
    (to !== undefined && !compares({ S: text }, '<=', { S: to }));
  if (isOutside) throw invalid('The provided starting key is outside query boundaries based on provided conditions');
};

const unusable = (message: string) => invalid(`Invalid KeyConditionExpression: ${message}`);

/**
 * The range of a partition that a key condition selects.
 * @throws AwsError
 */
const rangeOf = (condition: Condition, table: Table, index: Index | undefined, scope: Scope): Range => {
  const { hash, range } = index?.keys ?? table.description.keys;
  const parts = condition.op === 'AND' ? condition.parts : [condition];
  const bounds: Record<string, Partial<Range>> = {};
  for (const part of parts) {
    const { name, bound } = boundOf(part, scope);
    if (bounds[name]) throw unusable('KeyConditionExpressions must only contain one condition per key');
    bounds[name] = bound;
  }
  const { [hash]: first, ...others } = bounds;
  if (first === undefined) throw invalid(`Query condition missed key schema element: ${hash}`);
  if (first.from === undefined || first.from !== first.to) throw invalid('Query key condition not supported');
  const [other, ...more] = Object.keys(others);
  if (more.length) throw invalid('Conditions can be of length 1 or 2 only');
  if (other !== undefined && other !== range)
    throw invalid(`Query condition missed key schema element: ${range ?? hash}`);
  return { hash: first.from, ...(other === undefined ? {} : others[other]) };
};

const turned = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

const boundOf = (condition: Condition, scope: Scope): { name: string; bound: Partial<Range> } => {
  const name = (path: (string | number)[]): string => {
    if (path.length > 1) throw unusable('KeyConditionExpressions cannot have conditions on nested attributes');
    return nameIn(path[0] as string, scope);
  };
  const text = (value: string): string => {
    const { S } = valueIn(value, scope);
    if (S === undefined)
      throw invalid('One or more parameter values were invalid: Condition parameter type does not match schema type');
    return S as string;
  };
  if (condition.op === 'compare' && condition.comparator !== '<>') {
    const { left, right, comparator } = condition;
    if (left.kind === 'path' && right.kind === 'value')
      return { name: name(left.path), bound: compared(comparator, text(right.name)) };
    if (left.kind === 'value' && right.kind === 'path')
      return { name: name(right.path), bound: compared(turned[comparator], text(left.name)) };
  }
  if (condition.op === 'BETWEEN') {
    const { operand, low, high } = condition;
    if (operand.kind === 'path' && low.kind === 'value' && high.kind === 'value')
      return { name: name(operand.path), bound: { from: text(low.name), to: text(high.name) } };
  }
  if (condition.op === 'function' && condition.name === 'begins_with') {
    const [operand, prefix] = condition.operands;
    if (operand?.kind === 'path' && prefix?.kind === 'value') {
      const from = text(prefix.name);
      return { name: name(operand.path), bound: { from, below: endOfPrefix(from) } };
    }
  }
  const operator =
    condition.op === 'compare' ? condition.comparator : condition.op === 'function' ? condition.name : condition.op;
  throw unusable(`Invalid operator used in KeyConditionExpression: ${operator}`);
};

const compared = (comparator: keyof typeof turned, text: string): Partial<Range> => {
  if (comparator === '=') return { from: text, to: text };
  if (comparator === '<') return { below: text };
  if (comparator === '<=') return { to: text };
  return comparator === '>' ? { above: text } : { from: text };
};
