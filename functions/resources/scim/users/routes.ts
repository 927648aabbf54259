import { type Answer, noContent } from '#api/answer.ts';
import { param } from '#api/finders.ts';
import type { ApiRequest } from '#api/request.ts';
import { type ScimCall, scimRoute } from '../call.ts';
import { removeMembers } from '../groups/members.ts';
import { getGroups } from '../groups/records.ts';
import { checkVersion, type Document, isKnown, notModified, scimJson, withVersion } from '../protocol/answers.ts';
import { type Draft, readDraft, selected } from '../protocol/attributes.ts';
import { missing } from '../protocol/errors.ts';
import { type Condition, readFilter } from '../protocol/filter.ts';
import { listAnswer, pageOf, sliceOf } from '../protocol/list.ts';
import { patched, readOperations } from '../protocol/patch.ts';
import type { ScimRoute } from '../protocol/serve.ts';
import { baseOf } from '../url.ts';
import { activate, deactivate, followAddress } from './account.ts';
import { readAttributes, type UserAttributes, userTable } from './attributes.ts';
import { userDocuments } from './document.ts';
import {
  createScimUser,
  deleteScimUser,
  getScimUser,
  getScimUsers,
  listScimUserIds,
  lookUp,
  replaceAttributes,
  type ScimUser,
} from './records.ts';

/** Users of a directory (RFC 7643 §4.1; HCP API: SCIM users). */

const gone = (id: string) => missing('User', id);

/** Only users of the configuration's organization. @throws {ScimError} 404 */
const find = async ({ request, configuration }: ScimCall): Promise<ScimUser> => {
  const id = param(request, 'id');
  const user = await getScimUser(id);
  if (user?.configurationId !== configuration.id) throw gone(id);
  return user;
};

const documentOf = async ({ request, configuration, home }: ScimCall, user: ScimUser): Promise<Document> => {
  const [document] = await userDocuments([user], home.name, baseOf(request, configuration));
  return document as Document;
};

const answerOf = async (call: ScimCall, user: ScimUser | undefined, status = 200): Promise<Answer> => {
  if (!user) throw gone(param(call.request, 'id'));
  const document = await documentOf(call, user);
  return withVersion(scimJson(status, selected(call.request, document)), document);
};

const filterable = ['id', 'userName', 'externalId', 'emails', 'emails.value'] as const;
type Filterable = (typeof filterable)[number];

const idsFor = async (configurationId: string, { attribute, value }: Condition<Filterable>): Promise<string[]> => {
  const text = String(value);
  if (attribute === 'id') return [text];
  return lookUp[attribute === 'emails.value' ? 'emails' : attribute](configurationId, text);
};

const folded = (text: string | undefined): string | undefined => text?.toLowerCase();

const fits = (user: ScimUser, { attribute, value, type }: Condition<Filterable>): boolean => {
  switch (attribute) {
    case 'id':
    case 'externalId':
      return user[attribute] === value;
    case 'userName':
      return folded(user.userName) === folded(String(value));
    case 'emails':
    case 'emails.value':
      return user.emails.some(
        (email) =>
          folded(email.value) === folded(String(value)) && (type === undefined || folded(email.type) === folded(type)),
      );
  }
};

/** Ids of matching users: by one index, or of all users. */
const matching = async (request: ApiRequest, configurationId: string): Promise<string[]> => {
  const filter = request.query.get('filter');
  if (!filter) return listScimUserIds(configurationId);
  const conditions = readFilter(filter, filterable);
  const users = await getScimUsers(await idsFor(configurationId, conditions[0] as Condition<Filterable>));
  return users
    .filter((user) => user.configurationId === configurationId && conditions.every((one) => fits(user, one)))
    .map(({ id }) => id);
};

const list = async ({ request, configuration, home }: ScimCall): Promise<Answer> => {
  const page = pageOf(request);
  const ids = await matching(request, configuration.id);
  const users = await getScimUsers(sliceOf(ids, page));
  const documents = await userDocuments(users, home.name, baseOf(request, configuration));
  return listAnswer(
    ids.length,
    page,
    documents.map((document) => selected(request, document)),
  );
};

const read = async (call: ScimCall): Promise<Answer> => {
  const document = await documentOf(call, await find(call));
  if (isKnown(call.request, document)) return notModified(document);
  return withVersion(scimJson(200, selected(call.request, document)), document);
};

const create = async (call: ScimCall): Promise<Answer> => {
  const { request, configuration, home } = call;
  const attributes = readAttributes(readDraft(userTable, request.json()));
  const user = await createScimUser({ configurationId: configuration.id, organization: home.name }, attributes);
  if (attributes.active === false) return answerOf(call, user, 201);
  try {
    return await answerOf(call, await activate(call, user), 201);
  } catch (error) {
    // The directory would never send this user again.
    await deleteScimUser(user);
    throw error;
  }
};

/** Ends access first: a rejected attribute must not keep a user who left. */
const change = async (call: ScimCall, user: ScimUser, attributes: UserAttributes): Promise<ScimUser | undefined> => {
  const { active } = attributes;
  if (active === false) await deactivate(call, user);
  const written = await replaceAttributes(user, attributes);
  const linked = written && (await followAddress(call, written));
  return linked && active ? activate(call, linked) : linked;
};

/** An omitted `active` changes nothing, as in HCP Terraform. */
const replace = async (call: ScimCall): Promise<Answer> => {
  const user = await find(call);
  checkVersion(call.request, await documentOf(call, user));
  const attributes = readAttributes(readDraft(userTable, call.request.json()));
  return answerOf(call, await change(call, user, attributes));
};

const draftOf = ({ userName, externalId, displayName, name, emails }: ScimUser): Draft => ({
  userName,
  externalId,
  displayName,
  name,
  emails,
});

const patch = async (call: ScimCall): Promise<Answer> => {
  const user = await find(call);
  checkVersion(call.request, await documentOf(call, user));
  const draft = readOperations(call.request).reduce((before, one) => patched(userTable, before, one), draftOf(user));
  return answerOf(call, await change(call, user, readAttributes(draft)));
};

const remove = async (call: ScimCall): Promise<Answer> => {
  const user = await find(call);
  checkVersion(call.request, await documentOf(call, user));
  await deactivate(call, user);
  for (const group of await getGroups(user.configurationId, [...(user.groups ?? [])])) {
    await removeMembers(call, group, [user.id]);
  }
  await deleteScimUser(user);
  return noContent();
};

const type = 'scim_user';

export const scimUserRoutes: ScimRoute[] = [
  scimRoute('GET', '/Users', list),
  scimRoute('POST', '/Users', create, { type, action: 'create' }),
  scimRoute('GET', '/Users/{id}', read),
  scimRoute('PUT', '/Users/{id}', replace, { type, action: 'update' }),
  scimRoute('PATCH', '/Users/{id}', patch, { type, action: 'update' }),
  scimRoute('DELETE', '/Users/{id}', remove, { type, action: 'destroy' }),
];
