/**
 * Paths, payload templates and choice rules of the Amazon States Language, as far as the state machine uses them: paths
 * of names and indexes in the input (`$`) or the context object (`$$`), and comparisons of texts. Reading a definition
 * rejects anything else by name ({@link checkPath}, {@link checkTemplate}, {@link checkRule}). Pure.
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

/** @throws {ExpressionError} if there is no value */
export const valueAt = (path: string, { input, context }: Data): unknown => {
  const { root, steps } = parsePath(path);
  let value: unknown = root === '$$' ? context : input;
  for (const step of steps) {
    const has = typeof step === 'number' ? Array.isArray(value) : isObject(value) && Object.hasOwn(value, step);
    value = has ? (value as Json)[step] : undefined;
    if (value === undefined)
      throw new ExpressionError(
        `The JSONPath '${path}' could not be found in ${root === '$$' ? 'the context object' : `the input '${JSON.stringify(input)}'`}`,
      );
  }
  return value;
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
  Next: string;
  Variable: string;
  StringEquals: string;
}

/** @throws {ExpressionError} for any other rule */
export const checkRule = ({ Variable, Next, StringEquals, ...more }: Rule): void => {
  checkPath(String(Variable));
  const other = Object.keys(more).find((name) => name !== 'Comment');
  if (other !== undefined) throw new ExpressionError(`the comparison ${other} is not supported`);
  if (typeof StringEquals !== 'string') throw new ExpressionError('a choice rule has no StringEquals');
};

/** The state that a Choice leads to. @throws {ExpressionError} States.NoChoiceMatched */
export const nextOf = (choice: { Choices?: Rule[]; Default?: string }, data: Data): string => {
  const rule = choice.Choices?.find(({ Variable, StringEquals }) => valueAt(Variable, data) === StringEquals);
  const next = rule?.Next ?? choice.Default;
  if (next === undefined)
    throw new ExpressionError('No choice rule matches, and there is no Default.', 'States.NoChoiceMatched');
  return next;
};
