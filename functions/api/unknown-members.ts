import type * as v from 'valibot';
import type { ErrorObject } from './errors.ts';

/**
 * Finds members of a body that its schema does not contain, at any depth: valibot drops them, and accepts a list as
 * an object. HCP Terraform ignores them; but a misspelled setting would then have no effect.
 */

export interface Problem extends Omit<ErrorObject, 'status'> {
  detail: string;
  source: { pointer: string };
}

/** Members of every resource object in JSON:API; clients send documents back. */
const ofResources = ['id', 'type', 'attributes', 'relationships', 'links', 'meta'];
/** Members of every document and relationship. */
const ofDocuments = ['data', 'included', 'links', 'meta', 'jsonapi'];

interface Schema {
  type: string;
  entries?: Record<string, Schema>;
  item?: Schema;
  wrapped?: Schema;
}

const escaped = (name: string): string => name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');

const problemAt = (path: readonly string[], detail: string): Problem => ({
  title: 'invalid attribute',
  detail: `${path.at(-1)?.slice(0, 100) ?? 'body'}: ${detail}`,
  source: { pointer: `/${path.map(escaped).join('/')}` },
});

/** Members that an object of this kind may have in addition to its schema's entries. */
const alwaysAllowed = (entries: Record<string, Schema>, isDocument: boolean): readonly string[] => {
  if (isDocument || 'data' in entries) return ofDocuments;
  return 'id' in entries || 'attributes' in entries || 'relationships' in entries ? ofResources : [];
};

/** Whether a member counts as absent. */
type CountsAsAbsent = (member: unknown) => boolean;

/** Clients send null for fields without a value. */
const isNull: CountsAsAbsent = (member) => member === null;

const isEmpty = (member: unknown): boolean => typeof member === 'object' && Object.keys(member ?? {}).length === 0;

const zeroValues: unknown[] = ['', 0, false, '0001-01-01T00:00:00Z', '00000000-0000-0000-0000-000000000000'];

/** Clients in Go send these values for unset fields, including fields of newer API versions. */
export const isZeroValue: CountsAsAbsent = (member) => zeroValues.includes(member) || isEmpty(member);

const problemsOfObject = (
  entries: Record<string, Schema>,
  value: object,
  path: string[],
  countsAsAbsent: CountsAsAbsent,
): Problem[] => {
  if (Array.isArray(value)) return [problemAt(path, 'must be an object')];
  const allowed = alwaysAllowed(entries, path.length === 0);
  return Object.entries(value).flatMap(([name, member]) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (entry) return unknownMembers(entry as v.GenericSchema, member, countsAsAbsent, [...path, name]);
    if (countsAsAbsent(member) || allowed.includes(name)) return [];
    const known = Object.keys(entries);
    return [problemAt([...path, name], `is not supported; use ${known.join(', ')}`)];
  });
};

/** Only schemas of objects, lists and optional values are searched: other schemas reject what they do not accept. */
export const unknownMembers = (
  schema: v.GenericSchema,
  value: unknown,
  countsAsAbsent: CountsAsAbsent = isNull,
  path: string[] = [],
): Problem[] => {
  const { type, entries, item, wrapped } = schema as unknown as Schema;
  if (value === null || typeof value !== 'object') return [];
  if (wrapped) return unknownMembers(wrapped as v.GenericSchema, value, countsAsAbsent, path);
  if (type === 'record' && Array.isArray(value)) return [problemAt(path, 'must be an object')];
  if (type === 'object' && entries) return problemsOfObject(entries, value, path, countsAsAbsent);
  if (!item || !Array.isArray(value)) return [];
  return value.flatMap((entry, i) =>
    unknownMembers(item as v.GenericSchema, entry, countsAsAbsent, [...path, String(i)]),
  );
};
