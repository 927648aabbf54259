import * as v from 'valibot';
import type { ApiRequest } from '#api/request.ts';
import {
  type Attribute,
  attributeNamed,
  type Draft,
  type Entry,
  entryOf,
  isObject,
  type Kind,
  plainValue,
  subNamed,
  type Table,
  wholeValue,
} from './attributes.ts';
import { invalidPath, invalidSyntax, invalidValue, readOnly, ScimError } from './errors.ts';
import { isOfExtension, type Path, readPath } from './paths.ts';

/**
 * Changes of a resource (RFC 7644 §3.5.2), with the forms that Okta and Entra ID send: capitalized operations, values
 * without a path whose keys are paths, and lists of entries to remove.
 */

export interface Operation {
  op: 'add' | 'replace' | 'remove';
  /** Absent: the keys of the value are paths. */
  path?: string;
  value?: unknown;
}

const maxOperations = 100;

const body = v.object({
  Operations: v.pipe(
    v.array(
      v.object({
        op: v.pipe(
          v.string(),
          v.transform((op) => op.toLowerCase()),
          v.picklist(['add', 'replace', 'remove'], 'op must be add, replace or remove.'),
        ),
        path: v.nullish(v.string('path must be text.')),
        value: v.optional(v.unknown()),
      }),
      'Operations must be a list.',
    ),
    v.maxLength(maxOperations, `At most ${maxOperations} operations are possible.`),
  ),
});

/** `Operations` in any case. */
const folded = (document: unknown): unknown => {
  if (!isObject(document)) return document;
  const [, operations] = Object.entries(document).find(([key]) => key.toLowerCase() === 'operations') ?? [];
  return { Operations: operations };
};

/** Each with a path. @throws {ScimError} 400 */
export const readOperations = (request: ApiRequest): (Operation & { path: string })[] => {
  const { success, output, issues } = v.safeParse(body, folded(request.json()));
  if (!success) throw invalidSyntax(issues[0].message);
  return output.Operations.flatMap(({ op, path, value }) => {
    if (path) return [{ op, path, value }];
    if (op === 'remove') throw new ScimError(400, 'A remove operation needs a path.', 'noTarget');
    if (!isObject(value)) throw invalidValue('The value of an operation without a path must be an object.');
    return Object.entries(value).flatMap(([key, inner]) =>
      isReadOnlyKey(key) ? [] : [{ op, path: key, value: inner }],
    );
  });
};

/** Clients send these back with a value without a path. */
const isReadOnlyKey = (key: string): boolean => ['id', 'schemas', 'meta', 'groups'].includes(key.toLowerCase());

const same = (a: Entry, b: Entry): boolean => a.value === b.value && a.type === b.type;

/** At most one entry is the primary one: the new one. */
const joined = (before: Entry[], added: Entry[]): Entry[] => {
  const rest = before.filter((entry) => !added.some((one) => same(one, entry)));
  const demoted = added.some(({ primary }) => primary === true);
  return [...rest.map((entry) => (demoted && entry.primary ? { ...entry, primary: false } : entry)), ...added];
};

const selects = (subs: Readonly<Record<string, Kind>>, { attribute, value }: NonNullable<Path['filter']>) => {
  const sub = subNamed(subs, attribute);
  if (sub === undefined) throw invalidPath(`The path selects by ${attribute}, which is not supported.`);
  return { sub, test: (entry: Entry) => String(entry[sub] ?? '').toLowerCase() === value.toLowerCase() };
};

type Composite = Extract<Attribute, { kind: 'complex' | 'list' }>;

const subOf = ({ name, subs }: Composite, sub: string): string => {
  const known = subNamed(subs, sub);
  if (known === undefined) throw invalidPath(`The path ${name}.${sub} is not supported.`);
  return known;
};

const changedEntry = (attribute: Composite, entry: Entry, { sub }: Path, { op, value }: Operation): Entry => {
  if (sub === undefined) return { ...entry, ...entryOf(attribute.name, attribute.subs, value) };
  const name = subOf(attribute, sub);
  const { [name]: _, ...rest } = entry;
  if (op === 'remove' || value === null || value === undefined) return rest;
  return { ...entry, [name]: plainValue(attribute.subs[name] as Kind, `${attribute.name}.${name}`, value) };
};

const changedList = (attribute: Composite, before: Entry[], path: Path, operation: Operation): Entry[] => {
  const { op, value } = operation;
  const { filter, sub } = path;
  if (!filter && sub === undefined) {
    if (op === 'remove' && value === undefined) return [];
    const entries = (wholeValue(attribute, value) ?? []) as Entry[];
    if (op === 'remove') return before.filter((entry) => !entries.some((one) => one.value === entry.value));
    return op === 'add' ? joined(before, entries) : entries;
  }
  const chosen = filter && selects(attribute.subs, filter);
  const isChosen = chosen?.test ?? (() => true);
  if (op === 'remove' && sub === undefined) return before.filter((entry) => !isChosen(entry));
  if (op !== 'remove' && !before.some(isChosen)) {
    // An entry that does not exist yet, as Entra ID sends it.
    const entry: Entry = chosen && filter ? { [chosen.sub]: filter.value } : {};
    return joined(before, [changedEntry(attribute, entry, path, operation)]);
  }
  return before.map((entry) => (isChosen(entry) ? changedEntry(attribute, entry, path, operation) : entry));
};

const changedValue = (attribute: Attribute, before: unknown, path: Path, operation: Operation): unknown => {
  const isPlain = path.filter === undefined && path.sub === undefined;
  switch (attribute.kind) {
    case 'text':
    case 'flag':
      if (!isPlain) throw invalidPath(`${attribute.name} is not an object.`);
      return operation.op === 'remove' ? undefined : wholeValue(attribute, operation.value);
    case 'complex':
      if (path.filter) throw invalidPath(`${attribute.name} is not a list.`);
      if (isPlain && operation.op === 'remove') return undefined;
      return changedEntry(attribute, (before ?? {}) as Entry, path, operation);
    case 'list':
      return changedList(attribute, (before ?? []) as Entry[], path, operation);
    case 'read-only':
      throw readOnly(attribute.name);
    case 'ignored':
      return undefined;
  }
};

/** @throws {ScimError} 400 */
export const patched = (table: Table, draft: Draft, operation: Operation & { path: string }): Draft => {
  if (isOfExtension(operation.path)) return draft;
  const path = readPath(operation.path);
  const attribute = attributeNamed(table, path.attribute);
  if (!attribute) throw invalidPath(`The attribute ${path.attribute} does not exist.`);
  return { ...draft, [attribute.name]: changedValue(attribute, draft[attribute.name], path, operation) };
};
