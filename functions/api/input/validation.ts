import * as v from 'valibot';
import { ApiError, type ErrorObject, unprocessable } from '../errors.ts';
import type { ApiRequest } from '../request.ts';

/** Reading request bodies: unknown attributes are ignored, wrong ones answered with a pointer at the field. */

const kinds: Record<string, string> = { Object: 'an object', Array: 'a list', boolean: 'true or false' };

const article = (kind: string): string => kinds[kind] ?? `a ${kind}`;

/** Own words for what a schema without a message of its own says; a value is never repeated: it may be a secret. */
v.setGlobalMessage((issue) => {
  if (issue.kind !== 'schema') return issue.message;
  if (issue.received === 'undefined') return 'is missing';
  const choices = issue.expected?.replace(/^\(|\)$/g, '').split(' | ') ?? [];
  return choices.length > 1 ? `must be one of ${choices.join(', ')}` : `must be ${article(choices[0] ?? 'value')}`;
});

const objectOf = (issue: v.BaseIssue<unknown>): Omit<ErrorObject, 'status'> => {
  const path = (issue.path ?? []).map(({ key }) => String(key));
  const field = path.at(-1);
  return {
    title: 'invalid attribute',
    detail: field ? `${field}: ${issue.message}` : issue.message,
    source: { pointer: `/${path.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}` },
  };
};

/** @throws {ApiError} 422 */
export const check = <S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> => {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new ApiError(422, result.issues.slice(0, 20).map(objectOf));
};

/**
 * Relationships that documents show and no request sets: clients that send back what they have read are not refused.
 * What can be set somewhere is not among them.
 */
const shownOnly = new Set(
  [
    'organization default-project entitlement-set authentication-token authentication-tokens created-by comments run-events',
    'locked-by current-run latest-run outputs readme vars remote-state-consumers current-state-version',
    'current-configuration-version current-assessment-result ingress-attributes plan apply canceled-by confirmed-by',
    'cost-estimate task-stages policy-checks triggering-run triggering-source current-version newest-version configurable',
    'subscribable workspace-tasks agents organization-memberships varset overwritten overwriter subscription stacks',
  ].flatMap((names) => names.split(' ')),
);

/** @throws {ApiError} 422 for the first that is neither read nor only shown */
const checkNames = (given: object | null | undefined, read: object, alsoShown: readonly string[]): void => {
  const unknown = Object.keys(given ?? {}).find(
    (name) => !Object.hasOwn(read, name) && !alsoShown.includes(name) && !shownOnly.has(name),
  );
  if (unknown === undefined) return;
  const names = Object.keys(read).join(', ') || 'none';
  const field = unknown.slice(0, 100);
  throw unprocessable(
    `/data/relationships/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    `${field}: is not a relationship that can be set here; those that can: ${names}`,
  );
};

/**
 * The body's `data`. Its `type` is not looked at: some clients send it empty.
 * @param alsoShown relationships that can be set elsewhere, and are only shown by what this is about
 * @throws {ApiError} 400 for what is not JSON, 422 for what does not fit
 */
export const readData = <A extends v.ObjectEntries, R extends v.ObjectEntries = Record<never, never>>(
  request: ApiRequest,
  attributes: A,
  relationships?: R,
  alsoShown: readonly string[] = [],
) => {
  const schema = v.object({
    data: v.object({
      attributes: v.optional(v.object(attributes), {} as never),
      relationships: v.optional(v.object((relationships ?? {}) as R), {} as never),
    }),
  });
  const body = request.json() ?? {};
  const { data } = check(schema, body);
  checkNames((body as { data: { relationships?: object } }).data.relationships, relationships ?? {}, alsoShown);
  return data;
};

/** `{"comment": "…"}`, the body of run actions; may be missing. */
export const readComment = (request: ApiRequest): string | undefined => {
  const schema = v.object({ comment: v.nullish(text(10_000)) });
  return check(schema, request.json() ?? {}).comment ?? undefined;
};

export const text = (max: number) =>
  v.pipe(
    v.string(),
    v.maxLength(max, `may have at most ${max} characters`),
    v.regex(/^[^\0]*$/, 'has a NUL character'),
  );

/** Missing: unchanged. Null: back to the default. */
export const setting = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** The type of what a relationship names, of those it may name. Missing or empty, as some clients send it: the first. */
export const typeOf = <T extends string>(...types: [T, ...T[]]) =>
  v.pipe(
    v.optional(v.nullable(v.string()), types[0]),
    v.transform((given) => given || types[0]),
    v.picklist(types, `must be ${types.map((type) => `"${type}"`).join(' or ')}`),
  );

export const identifier = <T extends string>(...types: [T, ...T[]]) =>
  v.object({ type: typeOf(...types), id: v.pipe(v.string(), v.maxLength(100, 'is not an id')) });

/** A relationship to one, or to none. */
export const toOne = <T extends string>(...types: [T, ...T[]]) => v.object({ data: v.nullable(identifier(...types)) });

/**
 * What a relationship of the body names. Finders decide by it who may; the change reads the same with {@link readData}.
 * @throws {ApiError} 400 or 422
 */
export const relatedIn = <T extends string>(
  request: ApiRequest,
  name: string,
  ...types: [T, ...T[]]
): { type: T; id: string } | undefined => {
  const entry = v.object({ relationships: v.optional(v.object({ [name]: v.optional(toOne(...types)) })) });
  const { data } = check(v.object({ data: v.optional(entry) }), request.json() ?? {});
  return (data?.relationships?.[name]?.data as { type: T; id: string } | null | undefined) ?? undefined;
};

/** One that has to be there. @throws {ApiError} 400 or 422 */
export const requiredIn = <T extends string>(request: ApiRequest, name: string, ...types: [T, ...T[]]): string => {
  const found = relatedIn(request, name, ...types);
  if (found) return found.id;
  throw unprocessable(`/data/relationships/${name}`, `${name}: is missing`);
};

const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * `{'auto-apply': true}` → `{autoApply: true}`: what was given, by the names of the record; null becomes the default.
 */
export const settingsFrom = <T extends object>(attributes: Record<string, unknown>, defaults: T): Partial<T> => {
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const key = camel(name);
    if (value === undefined || !(key in defaults)) continue;
    settings[key] = value === null ? defaults[key as keyof T] : value;
  }
  return settings as Partial<T>;
};
