import type * as v from 'valibot';
import type { ErrorObject } from './errors.ts';

/**
 * Members of a body that its schema does not have, at any depth: valibot leaves them out of what it reads, and takes a list for an
 * object. HCP Terraform ignores them; but a misspelled setting would then have no effect.
 */

export interface Problem extends Omit<ErrorObject, 'status'> {
  source: { pointer: string };
}

/** JSON:API has these in every resource object; clients send back what documents showed. */
const ofResources = ['id', 'type', 'attributes', 'relationships', 'links', 'meta'];
/** And these in every document and relationship. */
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

/** What every object of that kind may have beside the entries of its schema. */
const alwaysAllowed = (entries: Record<string, Schema>, isDocument: boolean): readonly string[] => {
  if (isDocument || 'data' in entries) return ofDocuments;
  return 'id' in entries || 'attributes' in entries || 'relationships' in entries ? ofResources : [];
};

/** Which members count as not there. */
type SaysNothing = (member: unknown) => boolean;

/** Clients send null for fields without a value. */
const isNull: SaysNothing = (member) => member === null;

const isEmpty = (member: unknown): boolean => typeof member === 'object' && Object.keys(member ?? {}).length === 0;

const zeroValues: unknown[] = ['', 0, false, '0001-01-01T00:00:00Z', '00000000-0000-0000-0000-000000000000'];

/** Clients in Go send these for fields that nobody set, those of a newer version of the API too. */
export const isZeroValue: SaysNothing = (member) => zeroValues.includes(member) || isEmpty(member);

const problemsOfObject = (
  entries: Record<string, Schema>,
  value: object,
  path: string[],
  saysNothing: SaysNothing,
): Problem[] => {
  if (Array.isArray(value)) return [problemAt(path, 'must be an object')];
  const allowed = alwaysAllowed(entries, path.length === 0);
  return Object.entries(value).flatMap(([name, member]) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (entry) return unknownMembers(entry as v.GenericSchema, member, saysNothing, [...path, name]);
    if (saysNothing(member) || allowed.includes(name)) return [];
    const known = Object.keys(entries);
    return [problemAt([...path, name], `is not known here; supported: ${known.join(', ')}`)];
  });
};

/** Schemas of other types than objects, lists and what may be missing are not looked into: they refuse what they do not take. */
export const unknownMembers = (
  schema: v.GenericSchema,
  value: unknown,
  saysNothing: SaysNothing = isNull,
  path: string[] = [],
): Problem[] => {
  const { type, entries, item, wrapped } = schema as unknown as Schema;
  if (value === null || typeof value !== 'object') return [];
  if (wrapped) return unknownMembers(wrapped as v.GenericSchema, value, saysNothing, path);
  if (type === 'record' && Array.isArray(value)) return [problemAt(path, 'must be an object')];
  if (type === 'object' && entries) return problemsOfObject(entries, value, path, saysNothing);
  if (!item || !Array.isArray(value)) return [];
  return value.flatMap((entry, i) => unknownMembers(item as v.GenericSchema, entry, saysNothing, [...path, String(i)]));
};
