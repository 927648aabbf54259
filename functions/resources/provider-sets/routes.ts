import { type Answer, created, json, noContent, type Resource } from '#api/answer.ts';
import { nameTaken, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { listLimit } from '#api/list-limit.ts';
import { nameOf } from '#api/naming.ts';
import { pageWith } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route, type Subject } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { project } from '#resources/projects/finder.ts';
import { getProjects, type Project } from '#resources/projects/records.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { providerSetDocument } from './document.ts';
import { effectiveProviderSets } from './effective.ts';
import { providerSet, providerSetByName } from './finder.ts';
import { type Kind, readNewProviderSet, readProviderSetChange, readSetIds, readTargets, targetsOf } from './input.ts';
import {
  addTargets,
  countProviderSets,
  createProviderSet,
  deleteProviderSet,
  getProviderSet,
  listProviderSets,
  maxProviderSets,
  maxTargets,
  type ProviderSet,
  removeTargets,
  updateProviderSet,
} from './records.ts';

/** Provider sets, and the workspaces and projects to which they apply (HCP API: provider sets). */

const include = includable('workspaces', 'projects');

/** Existing workspaces and projects of the sets that the caller may see. */
const related = async (
  { principal }: Pick<Context<Subject>, 'principal'>,
  sets: ProviderSet[],
): Promise<{ workspaces: Workspace[]; projects: Project[] }> => {
  const home = sets[0]?.organization;
  if (home === undefined) return { workspaces: [], projects: [] };
  const ids = (of: 'workspaceIds' | 'projectIds') => [...new Set(sets.flatMap((set) => [...(set[of] ?? [])]))];
  const [workspaces, projects] = await Promise.all([
    getWorkspaces(ids('workspaceIds')),
    getProjects(ids('projectIds')),
  ]);
  const onWorkspace = await principal.onWorkspaces(home, workspaces);
  const onProject = await principal.onProjects(home, projects);
  return {
    workspaces: workspaces.filter(({ id }) => onWorkspace(id).has('workspace:read')),
    projects: projects.filter(({ id }) => onProject(id).has('project:read')),
  };
};

interface Shown {
  data: Resource[];
  included?: Resource[];
}

const shown = async (context: Context<Subject>, sets: ProviderSet[]): Promise<Shown> => {
  const { workspaces, projects } = await related(context, sets);
  const data = sets.map((set) =>
    providerSetDocument(set, {
      workspaceIds: workspaces.flatMap(({ id }) => (set.workspaceIds?.has(id) ? [id] : [])),
      projectIds: projects.flatMap(({ id }) => (set.projectIds?.has(id) ? [id] : [])),
    }),
  );
  const includes = include.of(context.request);
  if (includes.size === 0) return { data };
  const { principal } = context;
  return {
    data,
    included: [
      ...(includes.has('workspaces') ? await workspaceDocuments(principal, workspaces) : []),
      ...(includes.has('projects') ? await projectDocuments(principal, projects) : []),
    ],
  };
};

const single = async (context: Context<Subject>, set: ProviderSet): Promise<Answer> => {
  const { data, included } = await shown(context, [set]);
  return withEtag(json(200, { data: data[0], included }), set);
};

const page = (context: Context<Subject>, sets: ProviderSet[]): Promise<Answer> =>
  pageWith(context.request, sets, (some) => shown(context, some));

const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const values = await readNewProviderSet(request, subject.organization);
  const { organization: home, record } = subject;
  const limit = listLimit(home, maxProviderSets, 'provider sets', () => countProviderSets(home));
  const set = await createLimited(limit, () => createProviderSet(record, values), deleteProviderSet);
  if (!set) throw nameTaken();
  return created((await shown(context, [set])).data[0] as Resource);
};

const update = async (context: Context<ProviderSet>): Promise<Answer> => {
  const { request, subject } = context;
  const change = await readProviderSetChange(request, subject);
  const editor = await editorOf(context, subject, 'provider set');
  const updated = await updateProviderSet(subject, change, editor);
  if (updated) return single(context, updated);
  throw await refusedChange(request, 'provider set', await getProviderSet(subject.id), nameTaken());
};

/** Removes all of them or none; the error names missing ones. */
const removeSome = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const ids = readSetIds(request);
  const all = new Map((await listProviderSets(subject.organization)).map((set) => [set.id, set]));
  const missing = ids.find((id) => !all.has(id));
  if (missing !== undefined) {
    throw unprocessable('/data', `data: ${missing.slice(0, 100)} not found in ${nameOf(subject.organization)}`);
  }
  for (const id of ids) await deleteProviderSet(all.get(id) as ProviderSet);
  return noContent();
};

/** Can be repeated. */
const relate =
  (kind: Kind, adds: boolean) =>
  async ({ request, subject }: Context<ProviderSet>) => {
    const ids = await readTargets(request, subject, kind, adds);
    if (ids.length === 0) return noContent();
    if (!adds) await removeTargets(subject.id, targetsOf(kind), ids);
    else if (!(await addTargets(subject.id, targetsOf(kind), ids))) {
      throw unprocessable('/data', `${kind}: a provider set has at most ${maxTargets}`);
    }
    return noContent();
  };

const ofOrganization = async (context: Context<InOrganization>): Promise<Answer> =>
  page(context, await listProviderSets(context.subject.organization));

const ofProject = async (context: Context<Project>): Promise<Answer> => {
  const { id, organization: home } = context.subject;
  const sets = await listProviderSets(home);
  return page(
    context,
    sets.filter(({ global, projectIds }) => global || projectIds?.has(id)),
  );
};

/** In order of precedence. */
const ofWorkspace = async (context: Context<Workspace>): Promise<Answer> =>
  page(context, await effectiveProviderSets(context.subject));

const all = '/organizations/{organization}/provider-sets';
const path = '/provider-sets/{providerSet}';
const kinds: Kind[] = ['workspaces', 'projects'];

export const providerSetRoutes: Route[] = [
  route('GET', all, 'provider-set:read', organization, ofOrganization, { include }),
  route('POST', all, 'provider-set:write', organization, create),
  route('DELETE', all, 'provider-set:write', organization, removeSome),
  route(
    'GET',
    `${all}/{providerSetName}`,
    'provider-set:read',
    providerSetByName,
    (context) => single(context, context.subject),
    { include },
  ),
  route('GET', path, 'provider-set:read', providerSet, (context) => single(context, context.subject), { include }),
  route('PATCH', path, 'provider-set:write', providerSet, update, { include }),
  route('DELETE', path, 'provider-set:write', providerSet, noContentAfter(deleteProviderSet)),
  ...kinds.flatMap((kind): Route[] => [
    route('POST', `${path}/relationships/${kind}`, 'provider-set:write', providerSet, relate(kind, true)),
    route('DELETE', `${path}/relationships/${kind}`, 'provider-set:write', providerSet, relate(kind, false)),
  ]),
  // Permission to read variables includes the configuration of providers.
  route('GET', '/projects/{project}/provider-sets', 'variable:read', project, ofProject, { include }),
  route('GET', '/workspaces/{workspace}/provider-sets', 'variable:read', workspace, ofWorkspace, { include }),
];
