import * as v from 'valibot';
import { ApiError, type ErrorObject, unprocessable } from './errors.ts';
import { notTaken, type OtherFields } from './known-attributes.ts';
import type { ApiRequest } from './request.ts';
import { unknownMembers } from './unknown-members.ts';

/** Reads request bodies. Invalid and unknown fields (known-attributes.ts) are rejected with a pointer to the field. */

const kinds: Record<string, string> = { Object: 'an object', Array: 'a list', boolean: 'true or false' };

const article = (kind: string): string => kinds[kind] ?? `a ${kind}`;

/** Messages for schemas without one. They never repeat values, which may be secret. */
v.setGlobalMessage((issue) => {
  if (issue.kind !== 'schema') return issue.message;
  if (issue.received === 'undefined') return 'is missing';
  if (issue.expected === 'never') return 'is not supported';
  const choices = issue.expected?.replace(/^\(|\)$/g, '').split(' | ') ?? [];
  return choices.length > 1 ? `must be one of ${choices.join(', ')}` : `must be ${article(choices[0] ?? 'value')}`;
});

/** `Auto destroy activity duration has …` of the field `auto-destroy-activity-duration`. */
const namesField = (message: string, field: string): boolean =>
  message.startsWith(`${field.charAt(0).toUpperCase()}${field.slice(1).replaceAll('-', ' ')} `);

const objectOf = (issue: v.BaseIssue<unknown>): Omit<ErrorObject, 'status'> => {
  const path = (issue.path ?? []).map(({ key }) => String(key));
  const field = path.at(-1);
  return {
    title: 'invalid attribute',
    // HCP Terraform's messages start with the field's name.
    detail: field && !namesField(issue.message, field) ? `${field}: ${issue.message}` : issue.message,
    source: { pointer: `/${path.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}` },
  };
};

/** @throws {ApiError} 422 */
export const check = <S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> => {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new ApiError(422, result.issues.slice(0, 20).map(objectOf));
};

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object';

/** Documents contain relationships that are only a link; sent back, they change nothing. */
const withoutLinks = (body: unknown): unknown => {
  if (!isObject(body) || !isObject(body.data) || !isObject(body.data.relationships)) return body;
  const says = ([, value]: [string, unknown]) => !isObject(value) || 'data' in value || !('links' in value);
  const relationships = Object.fromEntries(Object.entries(body.data.relationships).filter(says));
  return { ...body, data: { ...body.data, relationships } };
};

/** {@link notTaken} reports these fields with more detail. */
const ofOneLevel = /^\/data\/(attributes|relationships)\/[^/]+$/;

/**
 * The body's `data`. Ignores its `type`, which some clients leave empty.
 * @throws {ApiError} 400 for invalid JSON, 422 for invalid content
 */
export const readData = <A extends v.ObjectEntries, R extends v.ObjectEntries = Record<never, never>>(
  request: ApiRequest,
  attributes: A,
  relationships?: R,
  otherFields: OtherFields = {},
) => {
  const schema = v.object({
    data: v.object({
      attributes: v.optional(v.object(attributes), {} as never),
      relationships: v.optional(v.object((relationships ?? {}) as R), {} as never),
    }),
  });
  const body = request.json() ?? {};
  const result = v.safeParse(schema, withoutLinks(body));
  const readFields = { attributes: Object.keys(attributes), relationships: Object.keys(relationships ?? {}) };
  const rest = [
    ...unknownMembers(schema, body).filter(({ source }) => !ofOneLevel.test(source.pointer)),
    ...notTaken(request, (body as { data?: unknown }).data, readFields, otherFields),
  ];
  if (result.success && rest.length === 0) return result.output.data;
  throw new ApiError(422, [...(result.issues ?? []).map(objectOf), ...rest].slice(0, 20));
};

/** A body that is not a resource: a list, or fields of an action. @throws {ApiError} 400, or 422 */
export const readWhole = <S extends v.GenericSchema>(request: ApiRequest, schema: S): v.InferOutput<S> => {
  const body = request.json() ?? {};
  const output = check(schema, body);
  const problems = unknownMembers(schema, body);
  if (problems.length > 0) throw new ApiError(422, problems.slice(0, 20));
  return output;
};

/** `{"comment": "…"}`, the optional body of run actions. */
export const readComment = (request: ApiRequest): string | undefined => {
  const schema = v.object({ comment: v.nullish(text(10_000)) });
  return readWhole(request, schema).comment ?? undefined;
};

export const text = (max: number) =>
  v.pipe(
    v.string(),
    v.maxLength(max, `may have at most ${max} characters`),
    v.regex(/^[^\0]*$/, 'must not contain a NUL character'),
  );

/** Absent: unchanged. Null: default. */
export const setting = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** Type of a relationship's resource. Absent or empty, as some clients send it, means the first allowed one. */
export const typeOf = <T extends string>(...types: [T, ...T[]]) =>
  v.pipe(
    v.optional(v.nullable(v.string()), types[0]),
    v.transform((type) => type || types[0]),
    v.picklist(types, `must be ${types.map((type) => `"${type}"`).join(' or ')}`),
  );

export const identifier = <T extends string>(...types: [T, ...T[]]) =>
  v.object({ type: typeOf(...types), id: v.pipe(v.string(), v.maxLength(100, 'is not a valid id')) });

/** A relationship to one resource or none. */
export const toOne = <T extends string>(...types: [T, ...T[]]) => v.object({ data: v.nullable(identifier(...types)) });

/**
 * Resource in a relationship of the body. Finders use it for permission checks; the change reads it again with {@link
 * readData}.
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

/** A required relationship. @throws {ApiError} 400 or 422 */
export const requiredIn = <T extends string>(request: ApiRequest, name: string, ...types: [T, ...T[]]): string => {
  const resource = relatedIn(request, name, ...types);
  if (resource) return resource.id;
  throw unprocessable(`/data/relationships/${name}`, `${name}: is missing`);
};

const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/**
 * `{'auto-apply': true}` → `{autoApply: true}`: the given attributes under the names of the record; null becomes the
 * default.
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
