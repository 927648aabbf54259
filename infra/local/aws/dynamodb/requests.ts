import { type Attribute, attributeOf, type Item, invalid, readItem } from './attributes.ts';
import type { Input } from './expressions.ts';
import type { Index, Table } from './table.ts';

/** Checks of request parameters. */

const common = ['TableName', 'ReturnConsumedCapacity'];
const expressions = ['ExpressionAttributeNames', 'ExpressionAttributeValues'];
const conditional = [...expressions, 'ConditionExpression', 'ReturnValues'];
const reading = [...expressions, 'FilterExpression', 'ExclusiveStartKey', 'Limit', 'ConsistentRead', 'Select'];

const parameters: Record<string, string[]> = {
  BatchGetItem: ['RequestItems', 'ReturnConsumedCapacity'],
  BatchWriteItem: ['RequestItems', 'ReturnConsumedCapacity'],
  DeleteItem: [...common, ...conditional, 'Key'],
  GetItem: [...common, 'Key', 'ConsistentRead'],
  PutItem: [...common, ...conditional, 'Item'],
  Query: [...common, ...reading, 'IndexName', 'KeyConditionExpression', 'ScanIndexForward'],
  Scan: [...common, ...reading],
  UpdateItem: [...common, ...conditional, 'Key', 'UpdateExpression'],
};

/** @throws AwsError for a parameter that this implementation would ignore */
export const checkParameters = (action: string, input: Input, allowed = parameters[action] ?? []): void => {
  for (const [name, value] of Object.entries(input))
    if (value !== undefined && value !== null && !allowed.includes(name))
      throw invalid(`The local DynamoDB does not take ${name} in ${action}`);
};

/**
 * One of several values; defaults to the first one.
 * @throws AwsError
 */
export const choice = (input: Input, name: string, allowed: string[]): string => {
  const value = input[name] ?? allowed[0];
  if (!allowed.includes(value as string))
    throw invalid(`The local DynamoDB takes only ${allowed.join(', ')} for ${name}; it is ${JSON.stringify(value)}`);
  return value as string;
};

export const flag = (input: Input, name: string): boolean | undefined => {
  const value = input[name] ?? undefined;
  if (value !== undefined && typeof value !== 'boolean') throw invalid(`${name} must be a boolean`);
  return value;
};

export const limitOf = ({ Limit }: Input): number | undefined => {
  if (Limit === undefined || Limit === null) return undefined;
  if (!Number.isInteger(Limit) || (Limit as number) < 1)
    throw invalid(
      `1 validation error detected: Value '${Limit}' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`,
    );
  return Limit as number;
};

/** DynamoDB: constraints, in bytes. */
const maxHash = 2048;
const maxRange = 1024;

const checkKeyPart = (attribute: Attribute | undefined, name: string, isHash: boolean): void => {
  const text = attribute?.S as string | undefined;
  if (text === undefined) throw invalid('The provided key element does not match the schema');
  if (text === '')
    throw invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
    );
  if (Buffer.byteLength(text) > (isHash ? maxHash : maxRange))
    throw invalid(
      isHash
        ? 'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes'
        : 'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    );
};

const checkKeys = (table: Table, item: Item): void => {
  const { hash, range } = table.description.keys;
  checkKeyPart(attributeOf(item, hash), hash, true);
  if (range !== undefined) checkKeyPart(attributeOf(item, range), range, false);
};

/**
 * A key without other attributes.
 * @throws AwsError
 */
export const readKey = (table: Table, value: unknown): Item => {
  if (value === undefined || value === null) throw invalid('The parameter Key is required');
  const key = readItem(value);
  const { range } = table.description.keys;
  if (Object.keys(key).length !== (range === undefined ? 1 : 2))
    throw invalid('The provided key element does not match the schema');
  checkKeys(table, key);
  return key;
};

/**
 * An item with its keys.
 * @throws AwsError
 */
export const readWholeItem = (table: Table, value: unknown): Item => {
  if (value === undefined || value === null) throw invalid('The parameter Item is required');
  const item = readItem(value);
  const { hash, range } = table.description.keys;
  for (const name of [hash, range]) {
    if (name === undefined) continue;
    const attribute = attributeOf(item, name);
    if (!attribute) throw invalid(`One or more parameter values were invalid: Missing the key ${name} in the item`);
    const [type] = Object.keys(attribute);
    if (type !== 'S')
      throw invalid(
        `One or more parameter values were invalid: Type mismatch for key ${name} expected: S actual: ${type}`,
      );
  }
  checkKeys(table, item);
  checkIndexKeys(table, item);
  return item;
};

/** @throws AwsError if a key of an index has a wrong type */
export const checkIndexKeys = ({ description }: Table, item: Item): void => {
  for (const { name: index, keys } of description.indexes) checkIndexKey(index, [keys.hash, keys.range], item);
};

const checkIndexKey = (index: string, names: (string | undefined)[], item: Item): void => {
  for (const name of names) {
    const attribute = name === undefined ? undefined : attributeOf(item, name);
    if (!attribute) continue;
    const [type] = Object.keys(attribute);
    if (type !== 'S')
      throw invalid(
        `One or more parameter values were invalid: Type mismatch for Index Key ${name} Expected: S Actual: ${type} IndexName: ${index}`,
      );
    if (attribute.S === '')
      throw invalid(
        `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: ${index}, IndexKey: ${name}`,
      );
  }
};

/**
 * The start of a page: values of the keys by name.
 * @throws AwsError
 */
export const readStart = (table: Table, index: Index | undefined, value: unknown): Item | undefined => {
  if (value === undefined || value === null) return undefined;
  const start = readItem(value);
  const { keys } = table.description;
  const names = new Set([keys.hash, keys.range, index?.keys.hash, index?.keys.range].filter(Boolean));
  const fits = Object.keys(start).every((name) => names.has(name)) && Object.keys(start).length === names.size;
  if (!fits || Object.values(start).some(({ S }) => S === undefined))
    throw invalid('The provided starting key is invalid');
  return start;
};
