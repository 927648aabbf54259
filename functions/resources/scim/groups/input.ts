import * as v from 'valibot';
import type { ApiRequest } from '#api/request.ts';
import { text } from '#api/validation.ts';
import { type Draft, readDraft, type Table, wholeValue } from '../protocol/attributes.ts';
import { invalidPath, invalidValue } from '../protocol/errors.ts';
import { type Operation, patched, readOperations } from '../protocol/patch.ts';
import { readPath } from '../protocol/paths.ts';
import type { GroupAttributes } from './records.ts';

/** Attributes of a group (RFC 7643 §4.2). */

const members = {
  name: 'members',
  kind: 'list',
  subs: { value: 'text', display: 'text', type: 'text' },
} as const;

export const groupTable: Table = [
  { name: 'displayName', kind: 'text' },
  { name: 'externalId', kind: 'text' },
  members,
  ...['id', 'schemas', 'meta'].map((name) => ({ name, kind: 'read-only' as const })),
];

/** Of one request, as in HCP Terraform. */
const maxMembers = 1000;

const schema = v.object({
  displayName: v.pipe(text(200), v.minLength(1, 'is missing')),
  externalId: v.optional(text(256)),
});

const ids = v.pipe(
  v.array(v.object({ value: v.pipe(text(100), v.minLength(1, 'is missing')) })),
  v.maxLength(maxMembers, `may have at most ${maxMembers} entries in one request`),
);

const read = <S extends v.GenericSchema>(schema: S, value: unknown, at?: string): v.InferOutput<S> => {
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  const [issue] = issues;
  throw invalidValue(`${[at, v.getDotPath(issue)].filter(Boolean).join('.') || 'body'}: ${issue.message}`);
};

const idsIn = (value: unknown): string[] =>
  read(ids, wholeValue(members, value) ?? [], 'members').map(({ value }) => value);

const attributesOf = (draft: Draft): GroupAttributes => read(schema, draft);

interface GroupInput {
  attributes: GroupAttributes;
  /** Absent: the request does not contain it. */
  memberIds: string[] | undefined;
}

/** @param former values that stay when the request omits them, as in HCP Terraform @throws {ScimError} 400 */
export const readGroup = (request: ApiRequest, former: Partial<GroupAttributes> = {}): GroupInput => {
  const draft = readDraft(groupTable, request.json());
  return {
    attributes: attributesOf({ ...former, ...draft }),
    memberIds: draft.members === undefined ? undefined : idsIn(draft.members),
  };
};

export interface MemberChange {
  kind: 'add' | 'remove' | 'set';
  ids: string[];
}

interface GroupChange {
  attributes: GroupAttributes;
  members: MemberChange[];
}

const filterIds = (path: ReturnType<typeof readPath>): string[] => {
  const { filter, sub } = path;
  if (sub !== undefined || filter?.attribute.toLowerCase() !== 'value') {
    throw invalidPath('Members are selected by members[value eq "id"].');
  }
  return [filter.value];
};

const memberChange = ({ op, value, path }: Operation & { path: string }): MemberChange => {
  const parsed = readPath(path);
  const isSelected = parsed.filter !== undefined || parsed.sub !== undefined;
  if (op === 'remove') {
    if (isSelected) return { kind: 'remove', ids: filterIds(parsed) };
    // Entra ID lists the members to remove; without a list, all are removed.
    return value === undefined || value === null ? { kind: 'set', ids: [] } : { kind: 'remove', ids: idsIn(value) };
  }
  if (isSelected) return { kind: 'add', ids: filterIds(parsed) };
  return { kind: op === 'add' ? 'add' : 'set', ids: idsIn(value) };
};

const isOfMembers = ({ path }: { path: string }): boolean => /^(urn:[^[\]"]+:Group:)?members\b/i.test(path.trim());

/** Members are not a part of the draft: a group may have thousands. @throws {ScimError} 400 */
export const readGroupPatch = (request: ApiRequest, { displayName, externalId }: GroupAttributes): GroupChange => {
  const operations = readOperations(request);
  const draft = operations
    .filter((operation) => !isOfMembers(operation))
    .reduce<Draft>((before, operation) => patched(groupTable, before, operation), { displayName, externalId });
  return { attributes: attributesOf(draft), members: operations.filter(isOfMembers).map(memberChange) };
};
