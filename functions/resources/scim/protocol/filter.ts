import { invalidFilter } from './errors.ts';
import { plainName } from './paths.ts';

/** `attribute eq "value"`; attributes and operators are case-insensitive (RFC 7644 §3.4.2.2). */
export interface Condition<A extends string = string> {
  attribute: A;
  value: string | boolean;
  /** `work` in `emails[type eq "work"].value`. */
  type?: string;
}

/** Values are JSON strings, or `true` and `false`. */
const condition =
  /^\s*([^\s"[\]()]+)(?:\[\s*type\s+eq\s+"([^"\\]*)"\s*\](\.\w+)?)?\s+(\w+)\s+("(?:[^"\\]|\\.)*"|[^\s"()]+)\s*/i;
const conjunction = /^and\s+/i;

const maxConditions = 10;

const literal = (text: string): string | boolean => {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!text.startsWith('"')) throw invalidFilter('filter: values must be in double quotes.');
  try {
    return JSON.parse(text) as string;
  } catch {
    throw invalidFilter('filter: a value is not a valid JSON string.');
  }
};

/**
 * Conditions that all have to hold.
 * @throws {ScimError} 400 for other forms, operators and attributes
 */
export const readFilter = <A extends string>(filter: string, supported: readonly A[]): Condition<A>[] => {
  const unsupported = () =>
    invalidFilter(`filter: only "eq" and "and" are supported, on the attributes ${supported.join(', ')}.`);
  const conditions: Condition<A>[] = [];
  for (let rest = filter; ; rest = rest.replace(conjunction, '')) {
    const [whole, base = '', type, sub = '', operator = '', value = ''] = condition.exec(rest) ?? [];
    const name = `${plainName(base)}${sub}`.toLowerCase();
    const attribute = supported.find((one) => one.toLowerCase() === name);
    if (whole === undefined || attribute === undefined || operator.toLowerCase() !== 'eq') throw unsupported();
    conditions.push({ attribute, value: literal(value), ...(type === undefined ? {} : { type }) });
    rest = rest.slice(whole.length);
    if (rest === '') return conditions;
    if (!conjunction.test(rest) || conditions.length >= maxConditions) throw unsupported();
  }
};
