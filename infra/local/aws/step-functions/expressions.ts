import { isDeepStrictEqual } from 'node:util';

/**
 * Paths, payload templates and choice rules of the Amazon States Language, as far as state machines here use them:
 * paths of names and indexes in the input (`$`) or the context object (`$$`), and all comparisons. Reading a definition
 * rejects filters, wildcards and intrinsic functions by name ({@link checkPath}, {@link checkTemplate}, {@link
 * checkRule}). Pure.
 */

/** `name` is the error's name in the execution. */
export class ExpressionError extends Error {
  constructor(message: string, name = 'States.Runtime') {
    super(message);
    this.name = name;
  }
}

interface Data {
  input: unknown;
  /** `$$` */
  context: object;
}
type Json = Record<string, unknown>;
type Step = string | number;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stepForm = /\.([\p{L}_][\p{L}\p{N}_-]*)|\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]/uy;
const parsed = new Map<string, { root: '$' | '$$'; steps: Step[] }>();

/** @throws {ExpressionError} that names the unsupported part */
const parsePath = (path: string) => {
  const known = parsed.get(path);
  if (known) return known;
  if (!path.startsWith('$')) throw new ExpressionError(`${path} is not a path; intrinsic functions are not supported`);
  const root = path.startsWith('$$') ? '$$' : '$';
  const steps: Step[] = [];
  stepForm.lastIndex = root.length;
  for (let at = root.length; at < path.length; at = stepForm.lastIndex) {
    const [, name, quoted, index] = stepForm.exec(path) ?? [];
    if (name === undefined && quoted === undefined && index === undefined)
      throw new ExpressionError(`${path.slice(at)} in the path ${path} is not supported: only names and indexes are`);
    steps.push(index === undefined ? (name ?? (quoted as string).replaceAll(/\\(.)/g, '$1')) : Number(index));
  }
  const result = { root, steps } as const;
  parsed.set(path, result);
  return result;
};

export const checkPath = (path: string): void => void parsePath(path);

/** @throws {ExpressionError} for a path at which no result can be stored */
export const checkReference = (path: string): void => {
  const { root, steps } = parsePath(path);
  if (root === '$$' || steps.some((step) => typeof step === 'number'))
    throw new ExpressionError(`${path} is not a field of the input`);
};

const lookUp = (path: string, { input, context }: Data): unknown => {
  const { root, steps } = parsePath(path);
  let value: unknown = root === '$$' ? context : input;
  for (const step of steps) {
    const has = typeof step === 'number' ? Array.isArray(value) : isObject(value) && Object.hasOwn(value, step);
    value = has ? (value as Json)[step] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
};

/**
 * The value at a path; an undefined path gives the whole value.
 * @throws {ExpressionError} if there is no value
 */
export const valueAt = (path: string, data: Data): unknown => {
  const value = lookUp(path, data);
  if (value === undefined)
    throw new ExpressionError(
      `The JSONPath '${path}' could not be found in ${path.startsWith('$$') ? 'the context object' : `the input '${JSON.stringify(data.input)}'`}`,
    );
  return value;
};

/** InputPath and OutputPath: null stands for an empty object. */
export const select = (path: string | null | undefined, data: Data): unknown => {
  if (path === undefined) return data.input;
  return path === null ? {} : valueAt(path, data);
};

/** Each filled template is a separate copy. */
export const fill = (template: unknown, data: Data): unknown => {
  if (Array.isArray(template)) return template.map((part) => fill(part, data));
  if (!isObject(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, part]) =>
      key.endsWith('.$') ? [key.slice(0, -2), structuredClone(valueAt(String(part), data))] : [key, fill(part, data)],
    ),
  );
};

/** @throws {ExpressionError} */
export const checkTemplate = (template: unknown): void => {
  if (typeof template !== 'object' || template === null) return;
  for (const [key, part] of Object.entries(template))
    key.endsWith('.$') ? checkPath(String(part)) : checkTemplate(part);
};

/** ResultPath: null keeps the input; `$`, or no ResultPath, replaces it with the result. */
export const place = (input: unknown, path: string | null | undefined, result: unknown): unknown => {
  if (path === null) return input;
  return path === undefined ? result : placeAt(input, parsePath(path).steps as string[], result);
};

const placeAt = (input: unknown, [name, ...rest]: string[], result: unknown): unknown => {
  if (name === undefined) return result;
  if (!isObject(input))
    throw new ExpressionError(
      'ResultPath names a field of a value that is not an object',
      'States.ResultPathMatchFailure',
    );
  return { ...input, [name]: rest.length ? placeAt(input[name] ?? {}, rest, result) : result };
};

export interface Rule {
  Next?: string;
  And?: Rule[];
  Or?: Rule[];
  Not?: Rule;
  Variable?: string;
  [comparison: string]: unknown;
}

const orders: Record<string, (order: number) => boolean> = {
  Equals: (order) => order === 0,
  LessThan: (order) => order < 0,
  GreaterThan: (order) => order > 0,
  LessThanEquals: (order) => order <= 0,
  GreaterThanEquals: (order) => order >= 0,
};

const isTimestamp = (value: unknown): value is string =>
  typeof value === 'string' &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
  !Number.isNaN(Date.parse(value));

/** The comparable value; undefined for another type, which no comparison matches. */
const keys: Record<string, (value: unknown) => string | number | undefined> = {
  String: (value) => (typeof value === 'string' ? value : undefined),
  Numeric: (value) => (typeof value === 'number' ? value : undefined),
  Boolean: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
  Timestamp: (value) => (isTimestamp(value) ? Date.parse(value) : undefined),
};

const tests: Record<string, (value: unknown) => boolean> = {
  IsPresent: (value) => value !== undefined,
  IsNull: (value) => value === null,
  IsString: (value) => typeof value === 'string',
  IsNumeric: (value) => typeof value === 'number',
  IsBoolean: (value) => typeof value === 'boolean',
  IsTimestamp: isTimestamp,
};

const comparisonForm = /^(String|Numeric|Boolean|Timestamp)((?:Less|Greater)?(?:Than)?(?:Equals)?)(Path)?$/;

const isWritten = (value: unknown, pattern: string): boolean =>
  typeof value === 'string' &&
  new RegExp(
    `^${pattern.replaceAll(/\\(.)|\*|[.+?^${}()|[\]\\]/g, (part, escaped) => (part === '*' ? '[^]*' : `\\${escaped ?? part}`))}$`,
  ).test(value);

const comparisonOf = (rule: Rule): [name: string, operand: unknown] => {
  const comparisons = Object.entries(rule).filter(
    ([name]) => name !== 'Variable' && name !== 'Next' && name !== 'Comment',
  );
  const [comparison, ...more] = comparisons;
  if (!comparison || more.length > 0) throw new ExpressionError('a choice rule has one comparison');
  return comparison;
};

/** @throws {ExpressionError} */
export const checkRule = (rule: Rule): void => {
  const inner = [...(rule.And ?? []), ...(rule.Or ?? []), ...(rule.Not ? [rule.Not] : [])];
  for (const one of inner) checkRule(one);
  if (inner.length > 0) return;
  checkPath(String(rule.Variable));
  const [name, operand] = comparisonOf(rule);
  const [, type, order, byPath] = comparisonForm.exec(name) ?? [];
  const isOrder = order && Object.hasOwn(orders, order) && (type !== 'Boolean' || order === 'Equals');
  if (!isOrder && !Object.hasOwn(tests, name) && name !== 'StringMatches')
    throw new ExpressionError(`the comparison ${name} is not supported`);
  if (byPath) checkPath(String(operand));
};

const holds = (rule: Rule, data: Data): boolean => {
  if (rule.And) return rule.And.every((one) => holds(one, data));
  if (rule.Or) return rule.Or.some((one) => holds(one, data));
  if (rule.Not) return !holds(rule.Not, data);
  const [name, operand] = comparisonOf(rule);
  const variable = String(rule.Variable);
  const test = tests[name];
  if (test)
    return isDeepStrictEqual(test(name === 'IsPresent' ? lookUp(variable, data) : valueAt(variable, data)), operand);
  const value = valueAt(variable, data);
  if (name === 'StringMatches') return isWritten(value, String(operand));
  const [, type = '', order = '', byPath] = comparisonForm.exec(name) ?? [];
  const keyOf = keys[type] as (value: unknown) => string | number | undefined;
  const [a, b] = [keyOf(value), keyOf(byPath ? valueAt(String(operand), data) : operand)];
  if (b === undefined) throw new ExpressionError(`${operand} is no value for ${name}`);
  if (a === undefined) return false;
  return (orders[order] as (order: number) => boolean)(a < b ? -1 : a > b ? 1 : 0);
};

/** The state that a Choice leads to. @throws {ExpressionError} States.NoChoiceMatched */
export const nextOf = (choice: { Choices?: Rule[]; Default?: string }, data: Data): string => {
  const next = choice.Choices?.find((rule) => holds(rule, data))?.Next ?? choice.Default;
  if (next === undefined)
    throw new ExpressionError('No choice rule matches, and there is no Default.', 'States.NoChoiceMatched');
  return next;
};
