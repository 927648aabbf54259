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
  pipe?: Schema[];
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

const problemsOfObject = (entries: Record<string, Schema>, value: object, path: string[]): Problem[] => {
  if (Array.isArray(value)) return [problemAt(path, 'must be an object')];
  const allowed = alwaysAllowed(entries, path.length === 0);
  return Object.entries(value).flatMap(([name, member]) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (entry) return unknownMembers(entry as v.GenericSchema, member, [...path, name]);
    // Clients send null for fields without a value.
    if (member === null || allowed.includes(name)) return [];
    const known = Object.keys(entries);
    return [problemAt([...path, name], `is not known here; supported: ${known.join(', ')}`)];
  });
};

/** Schemas of other types than objects, lists and what may be missing are not looked into: they refuse what they do not take. */
export const unknownMembers = (schema: v.GenericSchema, value: unknown, path: string[] = []): Problem[] => {
  const { type, entries, item, wrapped } = schema as unknown as Schema;
  if (value === null || typeof value !== 'object') return [];
  if (wrapped) return unknownMembers(wrapped as v.GenericSchema, value, path);
  if (type === 'record' && Array.isArray(value)) return [problemAt(path, 'must be an object')];
  if (type === 'object' && entries) return problemsOfObject(entries, value, path);
  if (!item || !Array.isArray(value)) return [];
  return value.flatMap((entry, i) => unknownMembers(item as v.GenericSchema, entry, [...path, String(i)]));
};
