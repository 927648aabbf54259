import { AwsError } from '#infra/local/host/errors.ts';
import { canonical, compareNumbers, NumberError, numberSize } from './numbers.ts';

/** One typed value, as on the wire: `{S: 'text'}`. */
export type Attribute = { [type in Type]?: unknown };
export type Item = Record<string, Attribute>;

const types = ['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'] as const;
export type Type = (typeof types)[number];

export const isType = (text: unknown): text is Type => types.includes(text as Type);

export const invalid = (message: string): AwsError => new AwsError('ValidationException', message);

const invalidValue = (message: string): AwsError => invalid(`One or more parameter values were invalid: ${message}`);

export const typeOf = (attribute: Attribute): Type => {
  for (const type in attribute) return type as Type;
  throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
};

const serialization = (message: string): AwsError => new AwsError('SerializationException', message);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw serialization('a String was expected');
  return value;
};

const number = (value: unknown): string => {
  try {
    return canonical(text(value));
  } catch (error) {
    throw error instanceof NumberError ? invalid(error.message) : error;
  }
};

/** Base64, as stored. Requests contain base64; callers in this process may pass the bytes instead. */
const bytes = (value: unknown): string => {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  const encoded = text(value);
  if (Buffer.from(encoded, 'base64').toString('base64') !== encoded)
    throw serialization('a Blob was expected in Base64');
  return encoded;
};

const setOf = (value: unknown, member: (one: unknown) => string, kind: string): string[] => {
  if (!Array.isArray(value)) throw serialization('a List was expected');
  if (value.length === 0) throw invalidValue(`An ${kind} set  may not be empty`);
  const members = value.map(member);
  if (new Set(members).size < members.length)
    throw invalidValue(`Input collection [${members.join(', ')}] contains duplicates.`);
  return members;
};

const readers: Record<Type, (value: unknown) => unknown> = {
  S: text,
  N: number,
  B: bytes,
  BOOL: (value) => {
    if (typeof value !== 'boolean') throw serialization('a Boolean was expected');
    return value;
  },
  NULL: (value) => {
    if (value !== true) throw invalidValue('Null attribute value types must have the value of true');
    return value;
  },
  M: (value) => readItem(value),
  L: (value) => {
    if (!Array.isArray(value)) throw serialization('a List was expected');
    return value.map(readAttribute);
  },
  SS: (value) => setOf(value, text, 'string'),
  NS: (value) => setOf(value, number, 'number'),
  BS: (value) => setOf(value, bytes, 'binary'),
};

/**
 * A copy that shares nothing with the request, with numbers in their canonical form.
 * @throws AwsError
 */
export const readAttribute = (value: unknown): Attribute => {
  if (!isRecord(value)) throw serialization('an AttributeValue was expected');
  const [type, ...others] = Object.keys(value);
  if (type === undefined || !isType(type))
    throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  if (others.length)
    throw invalid(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  return { [type]: readers[type](value[type]) };
};

/** @throws AwsError */
export const readItem = (value: unknown): Item => {
  if (!isRecord(value)) throw serialization('a Map was expected');
  const item: Item = {};
  for (const name of Object.keys(value)) define(item, name, readAttribute(value[name]));
  return item;
};

/** An attribute may have any name, including `__proto__`. */
export const define = (item: Item, name: string, value: Attribute): void => {
  if (name === '__proto__')
    Object.defineProperty(item, name, { value, enumerable: true, configurable: true, writable: true });
  else item[name] = value;
};

export const attributeOf = (item: Item, name: string): Attribute | undefined =>
  Object.hasOwn(item, name) ? item[name] : undefined;

const sizes: { [type in Type]: (value: never) => number } = {
  S: (value: string) => Buffer.byteLength(value),
  N: numberSize,
  B: (value: string) => Buffer.byteLength(value, 'base64'),
  BOOL: () => 1,
  NULL: () => 1,
  M: (value: Item) => 3 + Object.keys(value).length + itemSize(value),
  L: (value: Attribute[]) => value.reduce((sum, one) => sum + 1 + attributeSize(one), 3),
  SS: (value: string[]) => value.reduce((sum, one) => sum + Buffer.byteLength(one), 0),
  NS: (value: string[]) => value.reduce((sum, one) => sum + numberSize(one), 0),
  BS: (value: string[]) => value.reduce((sum, one) => sum + Buffer.byteLength(one, 'base64'), 0),
};

const attributeSize = (attribute: Attribute): number => {
  const type = typeOf(attribute);
  return sizes[type](attribute[type] as never);
};

/** Bytes (DynamoDB: item sizes and formats). */
export const itemSize = (item: Item): number => {
  let size = 0;
  for (const name in item) size += Buffer.byteLength(name) + attributeSize(item[name] as Attribute);
  return size;
};

export const isEqual = (a: Attribute, b: Attribute): boolean => {
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  const [x, y] = [a[type], b[type]];
  switch (type) {
    case 'SS':
    case 'NS':
    case 'BS':
      return (
        (x as string[]).length === (y as string[]).length &&
        (x as string[]).every((one) => (y as string[]).includes(one))
      );
    case 'L': {
      const [left, right] = [x as Attribute[], y as Attribute[]];
      return left.length === right.length && left.every((one, i) => isEqual(one, right[i] as Attribute));
    }
    case 'M': {
      const [left, right] = [x as Item, y as Item];
      const names = Object.keys(left);
      if (names.length !== Object.keys(right).length) return false;
      return names.every(
        (name) => Object.hasOwn(right, name) && isEqual(left[name] as Attribute, right[name] as Attribute),
      );
    }
    default:
      return x === y;
  }
};

/** Undefined for values that cannot be compared. */
export const compare = (a: Attribute, b: Attribute): number | undefined => {
  if (a.S !== undefined && b.S !== undefined)
    return Buffer.compare(Buffer.from(a.S as string), Buffer.from(b.S as string));
  if (a.N !== undefined && b.N !== undefined) return compareNumbers(a.N as string, b.N as string);
  if (a.B !== undefined && b.B !== undefined)
    return Buffer.compare(Buffer.from(a.B as string, 'base64'), Buffer.from(b.B as string, 'base64'));
  return undefined;
};
