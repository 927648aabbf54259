import type { ApiRequest } from '#api/request.ts';
import type { Document } from './answers.ts';
import { invalidSyntax, invalidValue } from './errors.ts';
import { isOfExtension, plainName } from './paths.ts';

/** Attributes of a resource, and how requests name them: in any case, and with the URN of the schema. */

export type Kind = 'text' | 'flag';

export type Attribute =
  | { name: string; kind: Kind }
  /** An object, or a list of objects, with these attributes. */
  | { name: string; kind: 'complex' | 'list'; subs: Readonly<Record<string, Kind>> }
  /** Set by this platform. */
  | { name: string; kind: 'read-only' }
  /** An attribute of the schema that is accepted and not stored. */
  | { name: string; kind: 'ignored' };

export type Table = readonly Attribute[];

/** Values by the names of the table, not validated yet. */
export type Draft = Record<string, unknown>;
export type Entry = Record<string, unknown>;

export const attributeNamed = (table: Table, name: string): Attribute | undefined =>
  table.find((attribute) => attribute.name.toLowerCase() === name.toLowerCase());

export const subNamed = (subs: Readonly<Record<string, Kind>>, name: string): string | undefined =>
  Object.keys(subs).find((sub) => sub.toLowerCase() === name.toLowerCase());

export const isObject = (value: unknown): value is Entry =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Entra ID sends booleans as text. @throws {ScimError} 400 */
export const plainValue = (kind: Kind, name: string, value: unknown): unknown => {
  if (kind === 'text' || value === undefined || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw invalidValue(`${name} must be true or false.`);
  return text === 'true';
};

/** @throws {ScimError} 400 */
export const entryOf = (name: string, subs: Readonly<Record<string, Kind>>, value: unknown): Entry => {
  // A list of plain values.
  const object = typeof value === 'string' && 'value' in subs ? { value } : value;
  if (!isObject(object)) throw invalidValue(`${name} must be an object.`);
  const entry: Entry = {};
  for (const [key, inner] of Object.entries(object)) {
    const sub = subNamed(subs, key);
    if (sub !== undefined && inner !== null) entry[sub] = plainValue(subs[sub] as Kind, `${name}.${sub}`, inner);
  }
  return entry;
};

/** The value of a whole attribute; null and an empty list mean that it has none. @throws {ScimError} 400 */
export const wholeValue = (attribute: Attribute, value: unknown): unknown => {
  if (value === null || value === undefined) return undefined;
  switch (attribute.kind) {
    case 'text':
    case 'flag':
      return plainValue(attribute.kind, attribute.name, value);
    case 'complex':
      return entryOf(attribute.name, attribute.subs, value);
    case 'list': {
      const list = Array.isArray(value) ? value : [value];
      return list.map((entry) => entryOf(attribute.name, attribute.subs, entry));
    }
    case 'read-only':
    case 'ignored':
      return undefined;
  }
};

/** A whole resource. Unknown attributes are ignored, because schemas can be extended. @throws {ScimError} 400 */
export const readDraft = (table: Table, body: unknown): Draft => {
  if (!isObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const draft: Draft = {};
  for (const [key, value] of Object.entries(body)) {
    const attribute = isOfExtension(key) ? undefined : attributeNamed(table, plainName(key));
    const read = attribute && wholeValue(attribute, value);
    if (attribute && read !== undefined) draft[attribute.name] = read;
  }
  return draft;
};

interface Selection {
  attribute: string;
  sub: string | undefined;
}

const selectionIn = ({ query }: ApiRequest, parameter: string): Selection[] | undefined =>
  query
    .get(parameter)
    ?.split(',')
    .map((name) =>
      plainName(name.trim())
        .toLowerCase()
        .replace(/\[.*\]/, ''),
    )
    .filter(Boolean)
    .map((name) => ({ attribute: name.split('.')[0] as string, sub: name.split('.')[1] }));

const always: readonly string[] = ['schemas', 'id'];

const selectSubs = (value: unknown, keeps: (sub: string) => boolean): unknown => {
  if (Array.isArray(value)) return value.map((entry) => selectSubs(entry, keeps));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([sub]) => keeps(sub.toLowerCase())));
};

/** Whether the response contains the attribute (RFC 7644 §3.9). */
export const isRequested = (request: ApiRequest, name: string): boolean => {
  const included = selectionIn(request, 'attributes');
  if (included) return included.some(({ attribute }) => attribute === name);
  return !selectionIn(request, 'excludedAttributes')?.some(({ attribute, sub }) => attribute === name && !sub);
};

/** The document with the attributes that `attributes` or `excludedAttributes` request (RFC 7644 §3.9). */
export const selected = (request: ApiRequest, document: Document): object => {
  const included = selectionIn(request, 'attributes');
  const excluded = selectionIn(request, 'excludedAttributes') ?? [];
  const all = Object.entries(document).flatMap(([name, value]): [string, unknown][] => {
    const folded = name.toLowerCase();
    if (always.includes(name)) return [[name, value]];
    if (included && !isRequested(request, folded)) return [];
    if (!included && !isRequested(request, folded)) return [];
    const subs = (included ?? excluded).filter(({ attribute, sub }) => attribute === folded && sub);
    if (subs.length === 0) return [[name, value]];
    return [[name, selectSubs(value, (inner) => subs.some(({ sub }) => sub === inner) === (included !== undefined))]];
  });
  return Object.fromEntries(all);
};
