import type { Answer, Resource } from '#api/answer.ts';
import { badRequest } from '#api/errors.ts';
import { includable } from '#api/include.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { flag } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { getProjects } from '#resources/projects/records.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUsers } from '#resources/users/users.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { recoverableDocument } from './document.ts';
import { listRecoverable, type Recoverable } from './records.ts';

/** Lists deleted workspaces that can be recovered (HCP API: recoverable items). */

const include = includable('recoverable', 'deleted_by', 'project');

const sorts: Record<string, (workspace: Recoverable) => string | number> = {
  expires_at: ({ recoverableUntil }) => recoverableUntil,
  recoverable_name: ({ name }) => name,
  unmanaged_resources: ({ state }) => state?.resources ?? 0,
};

const sorted = (request: ApiRequest, workspaces: Recoverable[]): Recoverable[] => {
  const sort = request.query.get('sort') || '-expires_at';
  const by = sorts[sort.replace(/^-/, '')] ?? (() => 0);
  const order = sort.startsWith('-') ? -1 : 1;
  return workspaces.sort((a, b) => order * (by(a) < by(b) ? -1 : 1));
};

/** @throws {ApiError} 400 */
const expiryIn = ({ query }: ApiRequest): number => {
  const text = query.get('filter[expires_after]');
  const at = text ? Date.parse(text) : 0;
  if (Number.isNaN(at)) {
    throw badRequest('filter[expires_after] must be a time, e.g. 2026-01-31T12:00:00Z.', 'filter[expires_after]');
  }
  return at;
};

const included = async (
  { request, principal, subject }: Context<InOrganization>,
  shown: Recoverable[],
): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const granted = await principal.onWorkspaces(subject.organization, shown);
  const ids = (of: (workspace: Recoverable) => string | undefined) =>
    [...new Set(shown.map(of))].filter((id) => id !== undefined);
  const users = includes.has('deleted_by') ? await getUsers(ids(({ deletedBy }) => deletedBy)) : [];
  const projects = includes.has('project') ? await getProjects(ids(({ projectId }) => projectId)) : [];
  return [
    ...(includes.has('recoverable')
      ? shown.map((workspace) => workspaceDocument(workspace, granted(workspace.id)))
      : []),
    ...users.map((user) => userDocument(user)),
    ...(await projectDocuments(principal, projects)),
  ];
};

const listAll = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, principal } = context;
  const { query } = request;
  const page = pageOf(request);
  const after = expiryIn(request);
  const search = (query.get('filter[search]') ?? '').toLowerCase();
  const all = query.get('filter[recoverable_type]') === 'stacks' ? [] : await listRecoverable(subject.organization);
  const granted = await principal.onWorkspaces(subject.organization, all);
  const visible = all.filter(({ id }) => granted(id).has('workspace:read'));
  const projects = await getProjects([...new Set(visible.map(({ projectId }) => projectId))]);
  const projectNames = new Map(projects.map(({ id, name }) => [id, name.toLowerCase()]));
  const matching = visible.filter(
    ({ name, projectId, state, recoverableUntil }) =>
      (name.toLowerCase().includes(search) || projectNames.get(projectId)?.includes(search)) &&
      (query.get('filter[having_managed_resources]') !== 'true' || Boolean(state?.resources)) &&
      Date.parse(recoverableUntil) > after,
  );
  const shown = pageSlice(sorted(request, matching), page);
  const related = await included(context, shown);
  return list(request, page, matching.length, shown.map(recoverableDocument), related);
};

export const recoverableItemListRoutes: Route[] = [
  route('GET', '/organizations/{organization}/recoverable-items', 'organization:read', organization, listAll, {
    include,
    'filter[search]': 'text',
    'filter[having_managed_resources]': flag,
    'filter[expires_after]': 'text',
    'filter[recoverable_type]': { one: ['workspaces', 'stacks'] },
    sort: { one: Object.keys(sorts).flatMap((name) => [name, `-${name}`]) },
  }),
];
