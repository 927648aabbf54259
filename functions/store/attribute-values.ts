/** Values of items as DynamoDB's JSON has them (DynamoDB: low-level API), as far as items here have such values. */

export type AttributeValue =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { B: string }
  | { SS: string[] }
  | { L: AttributeValue[] }
  | { M: AttributeValues };

export type AttributeValues = Record<string, AttributeValue>;

/** What the SDK would refuse on AWS is refused here too. */
const refused = (value: unknown): TypeError => new TypeError(`An item cannot have this value: ${String(value)}`);

const isPlain = (value: unknown): value is Record<string, unknown> => {
  const prototype = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined;
  return prototype === Object.prototype || prototype === null;
};

const toValue = (value: unknown): AttributeValue => {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) throw refused(value);
    return { N: String(value) };
  }
  if (typeof value === 'boolean') return { BOOL: value };
  if (value === null) return { NULL: true };
  if (Array.isArray(value)) return { L: value.filter((one) => one !== undefined).map(toValue) };
  if (value instanceof Uint8Array) {
    return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  if (value instanceof Set) {
    const texts = [...value];
    if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) throw refused('a set of no texts');
    return { SS: texts };
  }
  if (!isPlain(value)) throw refused(value);
  return { M: toValues(value) };
};

/** Undefined values are left out. */
export const toValues = (item: Record<string, unknown>): AttributeValues => {
  const values: AttributeValues = {};
  for (const name of Object.keys(item)) {
    if (name === '__proto__') throw refused(name);
    if (item[name] !== undefined) values[name] = toValue(item[name]);
  }
  return values;
};

const fromValue = (value: AttributeValue): unknown => {
  if ('S' in value) return value.S;
  if ('N' in value) return Number(value.N);
  if ('BOOL' in value) return value.BOOL;
  if ('M' in value) return fromValues(value.M);
  if ('L' in value) return value.L.map(fromValue);
  if ('SS' in value) return new Set(value.SS);
  // Memory of its own, as of any array.
  if ('B' in value) return new Uint8Array(Buffer.from(value.B, 'base64'));
  return null;
};

export const fromValues = (values: AttributeValues): Record<string, unknown> => {
  const item: Record<string, unknown> = {};
  for (const name of Object.keys(values)) {
    if (name !== '__proto__') item[name] = fromValue(values[name] as AttributeValue);
  }
  return item;
};
