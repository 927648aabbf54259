import * as v from 'valibot';
import { type Answer, noContent } from '#api/answer.ts';
import { conflict, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { pageFrom, wholeList } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { readWhole } from '#api/validation.ts';
import { getProject } from '#resources/projects/records.ts';
import {
  bindingOf,
  distinct,
  isBinding,
  plainTag,
  type Tag,
  tagBindingDocuments,
  tagBindingList,
  tagNames,
} from '#resources/projects/tags.ts';
import { effectiveTagDocuments, tagDocument } from './document.ts';
import { workspace } from './finder.ts';
import { checkOwnTags, tagList } from './input.ts';
import { tagKeysOf } from './lists.ts';
import { updateWorkspace, type Workspace } from './records.ts';

const write = async ({ subject, principal }: Context<Workspace>, tags: Tag[]): Promise<Workspace> => {
  await checkOwnTags(subject, tags);
  const updated = await updateWorkspace(subject, { tags: distinct(tags) }, { userId: principal.userId });
  if (typeof updated === 'string') {
    throw conflict(`Workspace ${subject.name} was changed by another request at the same time. Try again.`);
  }
  return updated;
};

const bindings = ({ request }: Context<Workspace>): Tag[] =>
  readWhole(request, v.object({ data: tagBindingList })).data.map(bindingOf);

const listBindings = async ({ request, subject }: Context<Workspace>): Promise<Answer> =>
  wholeList(request, tagBindingDocuments(subject));

/** The command line adds tags here, and reads them from the response. */
const addAndList = async (context: Context<Workspace>): Promise<Answer> => {
  const updated = await write(context, [...context.subject.tags, ...bindings(context)]);
  return wholeList(context.request, tagBindingDocuments(updated));
};

const addBindings = async (context: Context<Workspace>): Promise<Answer> => {
  await write(context, [...context.subject.tags, ...bindings(context)]);
  return noContent();
};

const replaceBindings = async (context: Context<Workspace>): Promise<Answer> => {
  const plain = context.subject.tags.filter((tag) => !isBinding(tag));
  await write(context, [...plain, ...bindings(context)]);
  return noContent();
};

const effective = async ({ request, subject }: Context<Workspace>): Promise<Answer> =>
  wholeList(request, effectiveTagDocuments(subject, await getProject(subject.projectId)));

const listTags = async ({ request, subject }: Context<Workspace>): Promise<Answer> => {
  const search = request.query.get('name') ?? '';
  const names = tagNames(subject.tags).filter((name) => name.includes(search));
  return pageFrom(request, names, (name) => tagDocument(subject.organization, name));
};

/**
 * Names of the tags in a body, which have a name or the id from a list. An id that is not one of the workspace's tags
 * is looked up among the organization's.
 * @throws {ApiError} 422
 */
const namesIn = async (context: Context<Workspace>): Promise<string[]> => {
  const { request, subject } = context;
  const { data } = readWhole(request, v.object({ data: tagList }));
  const idOf = (key: string) => tagDocument(subject.organization, key).id;
  const byId = new Map(subject.tags.map(({ key }) => [idOf(key), key]));
  const missing = data.some(({ id, attributes }) => !attributes && !byId.has(id ?? ''));
  if (missing) for (const key of await tagKeysOf(subject.organization)) byId.set(idOf(key), key);
  return data.map(({ id = '', attributes }, i) => {
    const name = attributes?.name ?? byId.get(id);
    if (name !== undefined) return name;
    const problem = id
      ? `tag ${id.slice(0, 100)} not found in ${nameOf(subject.organization)}`
      : 'attributes.name is required';
    throw unprocessable(`/data/${i}`, `${i}: ${problem}`);
  });
};

const addTags = async (context: Context<Workspace>): Promise<Answer> => {
  const { tags } = context.subject;
  // An existing tag keeps its value.
  const added = (await namesIn(context)).filter((name) => !tags.some(({ key }) => key === name));
  await write(context, [...tags, ...added.map(plainTag)]);
  return noContent();
};

const removeTags = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject } = context;
  const { data } = readWhole(request, v.object({ data: tagList }));
  const ids = new Map(subject.tags.map(({ key }) => [tagDocument(subject.organization, key).id, key]));
  // Ignores tags that the workspace does not have.
  const names = new Set(data.map(({ id = '', attributes }) => attributes?.name ?? ids.get(id)));
  await write(
    context,
    subject.tags.filter(({ key }) => !names.has(key)),
  );
  return noContent();
};

const base = '/workspaces/{workspace}';

export const workspaceTagRoutes: Route[] = [
  route('GET', `${base}/tag-bindings`, 'workspace:read', workspace, listBindings),
  route('PATCH', `${base}/tag-bindings`, 'workspace:tag', workspace, addAndList),
  route('GET', `${base}/relationships/tag-bindings`, 'workspace:read', workspace, listBindings),
  route('POST', `${base}/relationships/tag-bindings`, 'workspace:tag', workspace, addBindings),
  route('PATCH', `${base}/relationships/tag-bindings`, 'workspace:tag', workspace, replaceBindings),
  route('GET', `${base}/effective-tag-bindings`, 'workspace:read', workspace, effective),
  route('GET', `${base}/relationships/tags`, 'workspace:read', workspace, listTags, { name: 'text' }),
  route('POST', `${base}/relationships/tags`, 'workspace:tag', workspace, addTags),
  route('DELETE', `${base}/relationships/tags`, 'workspace:tag', workspace, removeTags),
];
