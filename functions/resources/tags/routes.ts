import * as v from 'valibot';
import { type Answer, noContent, type Resource } from '#api/answer.ts';
import { conflict, forbidden, notFound, unprocessable } from '#api/errors.ts';
import { pageFrom } from '#api/pagination.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { identifier, readWhole } from '#api/validation.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { distinct, plainTag } from '#resources/projects/tags.ts';
import { tagDocument } from '#resources/workspaces/document.ts';
import { eachTagged, tagKeysOf } from '#resources/workspaces/lists.ts';
import { getWorkspace, getWorkspaces, updateWorkspace, type Workspace } from '#resources/workspaces/records.ts';

/**
 * Tags of an organization's workspaces (HCP API: organization tags). Tags have no records; a list reads the names of
 * the workspaces.
 */

/** Tags by key, with the workspaces visible to the caller; tags without any are left out. */
const tagsSeen = async ({ subject, principal }: Context<InOrganization>): Promise<Map<string, string[]>> => {
  const name = subject.organization;
  const tags = new Map<string, string[]>();
  const within = await principal.reach(name, 'workspace:read');
  for await (const entries of eachTagged(name, within)) {
    const items = within ? await principal.visible(name, entries) : entries;
    for (const { workspaceId, tags: own } of items) {
      for (const { key } of own) tags.set(key, [...(tags.get(key) ?? []), workspaceId]);
    }
  }
  return new Map([...tags].sort(([a], [b]) => (a < b ? -1 : 1)));
};

const documentOf = (name: string, key: string, workspaceIds: string[]): Resource => {
  const { attributes, ...rest } = tagDocument(name, key);
  return { ...rest, attributes: { ...attributes, 'instance-count': workspaceIds.length } };
};

const listTags = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const search = (request.query.get('q') ?? '').toLowerCase();
  const without = request.query.get('filter[exclude][taggable][id]') || undefined;
  const all = [...(await tagsSeen(context))].filter(
    ([key, ids]) => key.toLowerCase().includes(search) && !(without && ids.includes(without)),
  );
  return pageFrom(request, all, ([key, ids]) => documentOf(subject.organization, key, ids));
};

const maxAtOnce = 100;
const listed = <T extends string>(type: T) =>
  v.object({
    data: v.pipe(v.array(identifier(type)), v.maxLength(maxAtOnce, `may have at most ${maxAtOnce} at once`)),
  });

const changeTags = async (
  workspace: Workspace,
  tagsOf: (workspace: Workspace) => Workspace['tags'],
  userId: string,
): Promise<void> => {
  for (let current: Workspace | undefined = workspace; current; current = await getWorkspace(workspace.id)) {
    const updated = await updateWorkspace(current, { tags: distinct(tagsOf(current)) }, { userId });
    if (updated === 'name taken') throw conflict(`Workspace ${current.name} was renamed at the same time. Try again.`);
    if (updated !== 'changed meanwhile') return;
  }
};

/** Removes tags from all workspaces that have them. */
const removeTags = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  const name = subject.organization;
  const tagIds = readWhole(request, listed('tags')).data.map(({ id }) => id);
  const byId = new Map([...(await tagKeysOf(name))].map((key) => [tagDocument(name, key).id, key]));
  for (const [i, id] of tagIds.entries()) {
    if (!byId.has(id)) throw unprocessable(`/data/${i}/id`, `id: tag ${id} not found in ${name}`);
  }
  const removed = new Set(tagIds.map((id) => byId.get(id)));
  for await (const entries of eachTagged(name)) {
    const ids = entries
      .filter(({ tags }) => tags.some(({ key }) => removed.has(key)))
      .map(({ workspaceId }) => workspaceId);
    for (const workspace of await getWorkspaces(ids)) {
      await changeTags(workspace, ({ tags }) => tags.filter(({ key }) => !removed.has(key)), principal.userId);
    }
  }
  return noContent();
};

const readWorkspaces = (request: ApiRequest): string[] => [
  ...new Set(readWhole(request, listed('workspaces')).data.map(({ id }) => id)),
];

/** A tag's id does not identify its organization; the first workspace in the request does. */
const firstWorkspace: Finder<Workspace> = {
  what: 'tag',
  parameter: 'tag',
  find: async (request) => {
    // A request without workspaces cannot identify a tag.
    if (!Array.isArray((request.json() as { data?: unknown } | undefined)?.data)) return undefined;
    const [first] = readWorkspaces(request);
    return first === undefined ? undefined : getWorkspace(first);
  },
  visibleWith: 'workspace:read',
  scope: (workspace) => ({ organization: workspace.organization, workspace }),
};

/** Adds the tag to all workspaces, or to none when one is missing or its tags must not change. */
const addWorkspaces = async ({ request, subject, principal }: Context<Workspace>): Promise<Answer> => {
  const name = subject.organization;
  const ids = readWorkspaces(request);
  const id = request.params.tag ?? '';
  const key = [...(await tagKeysOf(name))].find((key) => tagDocument(name, key).id === id);
  if (key === undefined) throw notFound(`Tag ${id} not found, or you don't have access.`);
  const workspaces = new Map((await getWorkspaces(ids)).map((record) => [record.id, record]));
  const granted = await principal.onWorkspaces(name, [...workspaces.values()]);
  for (const [i, workspaceId] of ids.entries()) {
    const workspace = workspaces.get(workspaceId);
    if (workspace?.organization !== name || !granted(workspaceId).has('workspace:read')) {
      throw unprocessable(`/data/${i}/id`, `id: workspace ${workspaceId} not found in ${name}`);
    }
    if (granted(workspaceId).has('workspace:tag')) continue;
    throw forbidden(`Workspace ${workspace.name} cannot be tagged: you need the permission workspace:tag there.`);
  }
  for (const workspace of workspaces.values()) {
    // An existing tag keeps its value.
    const tagsOf = ({ tags }: Workspace) => (tags.some((tag) => tag.key === key) ? tags : [...tags, plainTag(key)]);
    await changeTags(workspace, tagsOf, principal.userId);
  }
  return noContent();
};

const ofOrganization = '/organizations/{organization}/tags';

export const organizationTagRoutes: Route[] = [
  route('GET', ofOrganization, 'organization:read', organization, listTags, {
    q: 'text',
    'filter[exclude][taggable][id]': 'text',
  }),
  route('DELETE', ofOrganization, 'organization:manage-tags', organization, removeTags),
  route('POST', '/tags/{tag}/relationships/workspaces', 'workspace:tag', firstWorkspace, addWorkspaces),
];
