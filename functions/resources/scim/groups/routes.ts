import { type Answer, noContent } from '#api/answer.ts';
import { param } from '#api/finders.ts';
import { type ScimCall, scimRoute } from '../call.ts';
import { checkVersion, type Document, isKnown, notModified, scimJson, withVersion } from '../protocol/answers.ts';
import { isRequested, selected } from '../protocol/attributes.ts';
import { missing } from '../protocol/errors.ts';
import { type Condition, readFilter } from '../protocol/filter.ts';
import { listAnswer, pageOf, sliceOf } from '../protocol/list.ts';
import type { ScimRoute } from '../protocol/serve.ts';
import { baseOf } from '../url.ts';
import { getScimUser } from '../users/records.ts';
import { groupDocuments } from './document.ts';
import { type MemberChange, readGroup, readGroupPatch } from './input.ts';
import { addMembers, removeMembers, setMembers } from './members.ts';
import {
  changeGroup,
  createGroup,
  deleteGroup,
  type GroupAttributes,
  type GroupTeam,
  getGroup,
  getGroups,
  listGroupIds,
  lookUpGroup,
} from './records.ts';

/** Groups of a directory (RFC 7643 §4.2; HCP API: SCIM groups). */

const gone = (id: string) => missing('Group', id);

/** @throws {ScimError} 404 */
const find = async ({ request, configuration }: ScimCall): Promise<GroupTeam> => {
  const id = param(request, 'id');
  const group = await getGroup(configuration.id, id);
  if (!group) throw gone(id);
  return group;
};

const documentsOf = ({ request, configuration }: ScimCall, groups: GroupTeam[]): Promise<Document[]> =>
  groupDocuments(groups, baseOf(request, configuration), isRequested(request, 'members'));

const documentOf = async (call: ScimCall, group: GroupTeam): Promise<Document> =>
  (await documentsOf(call, [group]))[0] as Document;

const answerOf = async (call: ScimCall, group: GroupTeam, status: number): Promise<Answer> => {
  const document = await documentOf(call, group);
  return withVersion(scimJson(status, selected(call.request, document)), document);
};

const filterable = ['id', 'displayName', 'externalId', 'members', 'members.value'] as const;
type Filterable = (typeof filterable)[number];

const groupsOfMember = async ({ configuration }: ScimCall, id: string): Promise<string[]> => {
  const user = await getScimUser(id);
  return user?.configurationId === configuration.id ? [...(user.groups ?? [])].sort() : [];
};

const idsFor = async (call: ScimCall, { attribute, value }: Condition<Filterable>): Promise<string[]> => {
  const text = String(value);
  switch (attribute) {
    case 'id':
      return [text];
    case 'displayName':
    case 'externalId':
      return lookUpGroup[attribute](call.configuration.id, text);
    case 'members':
    case 'members.value':
      return groupsOfMember(call, text);
  }
};

/** Ids of groups that meet all conditions: the indexes are exact, so that no group has to be read for it. */
const matching = async (call: ScimCall): Promise<string[]> => {
  const filter = call.request.query.get('filter');
  if (!filter) return listGroupIds(call.configuration.id);
  const [first = [], ...others] = await Promise.all(
    readFilter(filter, filterable).map((condition) => idsFor(call, condition)),
  );
  const ids = first.filter((id) => others.every((more) => more.includes(id)));
  return (await getGroups(call.configuration.id, ids)).map(({ id }) => id);
};

const list = async (call: ScimCall): Promise<Answer> => {
  const page = pageOf(call.request);
  const ids = await matching(call);
  const groups = await getGroups(call.configuration.id, sliceOf(ids, page));
  const documents = await documentsOf(call, groups);
  return listAnswer(
    ids.length,
    page,
    documents.map((document) => selected(call.request, document)),
  );
};

const read = async (call: ScimCall): Promise<Answer> => {
  const document = await documentOf(call, await find(call));
  if (isKnown(call.request, document)) return notModified(document);
  return withVersion(scimJson(200, selected(call.request, document)), document);
};

const create = async (call: ScimCall): Promise<Answer> => {
  const { attributes, memberIds = [] } = readGroup(call.request);
  const group = await createGroup(call.configuration, attributes);
  await setMembers(call, group, memberIds);
  return answerOf(call, group, 201);
};

const change = async (
  call: ScimCall,
  group: GroupTeam,
  attributes: GroupAttributes,
  members: MemberChange[],
): Promise<GroupTeam> => {
  for (const { kind, ids } of members) {
    if (kind === 'add') await addMembers(call, group, ids);
    else if (kind === 'remove') await removeMembers(call, group, ids);
    else await setMembers(call, group, ids);
  }
  const changed = await changeGroup(group, attributes);
  if (!changed) throw gone(group.id);
  return changed;
};

const replace = async (call: ScimCall): Promise<Answer> => {
  const group = await find(call);
  checkVersion(call.request, await documentOf(call, group));
  const { attributes, memberIds } = readGroup(call.request, group.scim);
  const members: MemberChange[] = memberIds ? [{ kind: 'set', ids: memberIds }] : [];
  return answerOf(call, await change(call, group, attributes, members), 200);
};

/** Without a body, as Entra ID recommends: a group may have thousands of members. */
const patch = async (call: ScimCall): Promise<Answer> => {
  const group = await find(call);
  checkVersion(call.request, await documentOf(call, group));
  const { attributes, members } = readGroupPatch(call.request, group.scim);
  const changed = await change(call, group, attributes, members);
  return call.request.query.has('attributes') ? answerOf(call, changed, 200) : noContent();
};

const remove = async (call: ScimCall): Promise<Answer> => {
  const group = await find(call);
  checkVersion(call.request, await documentOf(call, group));
  await setMembers(call, group, []);
  await deleteGroup(group);
  return noContent();
};

const type = 'scim_group';

export const scimGroupRoutes: ScimRoute[] = [
  scimRoute('GET', '/Groups', list),
  scimRoute('POST', '/Groups', create, { type, action: 'create' }),
  scimRoute('GET', '/Groups/{id}', read),
  scimRoute('PUT', '/Groups/{id}', replace, { type, action: 'update' }),
  scimRoute('PATCH', '/Groups/{id}', patch, { type, action: 'update' }),
  scimRoute('DELETE', '/Groups/{id}', remove, { type, action: 'destroy' }),
];
