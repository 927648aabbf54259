import * as v from 'valibot';
import type { ApiRequest } from '#api/request.ts';
import { isZeroValue, unknownMembers } from '#api/unknown-members.ts';
import { CoderError, invalidQuery, type Validation } from './errors.ts';

/** Bodies and queries of Coder's API. */

const field = (issue: v.BaseIssue<unknown>): string => issue.path?.map(({ key }) => String(key)).join('.') ?? 'body';

/** @throws {CoderError} 400 */
export const readBody = <S extends v.GenericSchema>(request: ApiRequest, schema: S): v.InferOutput<S> => {
  const body = request.json();
  if (body === undefined) throw new CoderError(400, 'Request body must be valid JSON.', 'EOF');
  const { success, output, issues } = v.safeParse(schema, body);
  const unknown = unknownMembers(schema, body, isZeroValue).map(({ detail, source }) => ({
    field: source.pointer.slice(1).replaceAll('/', '.'),
    detail,
  }));
  if (success && unknown.length === 0) return output;
  const wrong: Validation[] = (issues ?? []).map((issue) => ({ field: field(issue), detail: issue.message }));
  const validations = [...wrong, ...unknown].slice(0, 20);
  throw new CoderError(400, 'Validation failed.', undefined, validations);
};

const tag = (name: string) => (issue: { input: unknown }) =>
  `Validation failed for tag "${name}" with value: ${JSON.stringify(issue.input)?.slice(0, 200)}`;

const reserved = new Set(['new', 'create']);

/** Names of environments and templates. */
export const nameField = (kind: 'username' | 'template_name' | 'workspace_name') =>
  v.pipe(
    v.string(tag(kind)),
    v.maxLength(32, tag(kind)),
    v.regex(/^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/, tag(kind)),
    v.check((name) => !reserved.has(name), tag(kind)),
  );

export const versionName = v.pipe(
  v.string(),
  v.maxLength(64, tag('template_version_name')),
  v.regex(/^[a-zA-Z0-9]+(?:[_.-]{1}[a-zA-Z0-9]+)*$/, tag('template_version_name')),
);

export const idField = v.nullish(v.pipe(v.string(), v.uuid(tag('uuid'))));

export const text = (max: number) => v.pipe(v.string(), v.maxLength(max));

/** Go clients send null for an empty list. */
export const listOf = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(v.array(schema)),
    v.transform((list) => list ?? []),
  );

export const nameValue = v.object({ name: text(200), value: text(64 * 1024) });

/** @throws {CoderError} 400 for an invalid number */
export const numberIn = ({ query }: ApiRequest, name: string): number | undefined => {
  const value = query.get(name);
  if (!value) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw invalidQuery({ field: name, detail: `Query param "${name}" must be a valid positive integer` });
};

/** True also for a parameter without a value, which clients send. */
export const flagIn = ({ query }: ApiRequest, name: string): boolean =>
  query.has(name) && query.get(name) !== 'false' && query.get(name) !== '0';

const maxItems = 1000;

export const pageIn = (request: ApiRequest): { limit: number; offset: number } => ({
  limit: numberIn(request, 'limit') || maxItems,
  offset: numberIn(request, 'offset') ?? 0,
});

/**
 * Parses `key:value` words, with optional quotes; words without a key are under the empty key. @throws {CoderError}
 * 400 for an unknown key
 */
export const searchIn = ({ query }: ApiRequest, searchKeys: readonly string[]): Map<string, string> => {
  const terms = new Map<string, string>();
  for (const [, key = '', quoted, plain] of (query.get('q') ?? '').matchAll(/(?:([\w-]+):)?(?:"([^"]*)"|(\S+))/g)) {
    const name = key.toLowerCase();
    if (name && !searchKeys.includes(name)) {
      throw invalidQuery({ field: name, detail: `"${name}" is not a valid query param` });
    }
    terms.set(name, (quoted ?? plain ?? '').toLowerCase());
  }
  return terms;
};
