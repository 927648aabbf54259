import { type Answer, created, noContent, ok, type Resource } from '#api/answer.ts';
import { nameTaken, notFound, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { list, type Page, pageOf, pageWith, totalOf } from '#api/pagination.ts';
import { flag } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, noContentAfter, type Route, route, type Subject } from '#api/route.ts';
import type { ScanResult } from '#platform/store/scan.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { type NewInOrganization, project } from '#resources/projects/finder.ts';
import { getProjects, type Project } from '#resources/projects/records.ts';
import { workspaceDocuments } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { variableDocument, variableSetDocument } from './document.ts';
import { variableSet } from './finder.ts';
import { listOwned } from './owned.ts';
import { createVariable, getVariable, listVariables } from './records.ts';
import {
  idsOf,
  type Kind,
  kinds,
  newVariableSet,
  readNewVariableSet,
  readTargets,
  readVariableSetChange,
  type Targets,
} from './set-input.ts';
import { findVariableSets, listVariableSets, type VariableSetFilter } from './set-lists.ts';
import {
  applyVariableSet,
  createVariableSet,
  deleteVariableSet,
  effectiveVariableSets,
  getVariableSet,
  listOwnVariableSets,
  listProjectVariableSets,
  maxOf,
  updateVariableSet,
  type VariableSet,
  withdrawVariableSet,
} from './set-records.ts';

/** Variable sets, their variables (variables.ts), and the workspaces and projects to which they apply. */

const tooMany = (kind: Kind) =>
  unprocessable('/data', `${kind}: a variable set is applied to at most ${maxOf[idsOf[kind]]}`);

const apply = async (set: VariableSet, kind: Kind, ids: string[]): Promise<VariableSet> => {
  const applied = await applyVariableSet(set, idsOf[kind], ids);
  if (!applied) throw tooMany(kind);
  return applied;
};

const create = async ({ request, subject, granted }: Context<NewInOrganization>): Promise<Answer> => {
  const { set: settings, variables, targets } = await readNewVariableSet(request, subject.organization);
  let set = await createVariableSet(settings);
  if (!set) throw nameTaken();
  for (const { kind, ids } of targets) set = await apply(set, kind, ids);
  for (const variable of variables) await createVariable(set.id, variable);
  return created(variableSetDocument(variables.length ? await again(set) : set, granted));
};

const again = async ({ id }: VariableSet): Promise<VariableSet> => {
  const set = await getVariableSet(id);
  if (!set) throw notFound();
  return set;
};

const replace = async (set: VariableSet, { kind, ids }: Targets): Promise<void> => {
  const before = set[idsOf[kind]] ?? new Set<string>();
  const added = ids.filter((id) => !before.has(id));
  const removed = [...before].filter((id) => !ids.includes(id));
  await apply(set, kind, added);
  await withdrawVariableSet(set, idsOf[kind], removed);
};

const update = async (context: Context<VariableSet>): Promise<Answer> => {
  const { request, subject } = context;
  const { change, targets } = await readVariableSetChange(request, subject);
  const editor = await editorOf(context, subject, 'variable set');
  const updated = Object.keys(change).length ? await updateVariableSet(subject, change, editor) : subject;
  if (!updated) throw await refusedChange(request, 'variable set', await getVariableSet(subject.id), nameTaken());
  for (const target of targets) await replace(updated, target);
  const latest = targets.length ? await again(updated) : updated;
  return withEtag(ok(await document(context, latest), await included(context, [latest])), latest);
};

const include = includable('vars', 'workspaces', 'projects', 'stacks');
/** Maximum number of included resources. */
const maxIncluded = 100;

const targetIds = (sets: VariableSet[], ids: 'workspaceIds' | 'projectIds'): string[] =>
  [...new Set(sets.flatMap((set) => [...(set[ids] ?? [])]))].slice(0, maxIncluded);

const included = async (
  { request, principal }: Context<Subject>,
  sets: VariableSet[],
): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  const [variables, workspaces, projects] = await Promise.all([
    includes.has('vars') ? Promise.all(sets.map(({ id }) => listVariables(id))) : [],
    includes.has('workspaces') ? getWorkspaces(targetIds(sets, 'workspaceIds')) : [],
    includes.has('projects') ? getProjects(targetIds(sets, 'projectIds')) : [],
  ]);
  return [
    ...variables.flat().map((variable) => variableDocument(variable)),
    ...(await workspaceDocuments(principal, workspaces)),
    ...(await projectDocuments(principal, projects)),
  ];
};

const read = async (context: Context<VariableSet>): Promise<Answer> =>
  withEtag(ok(await document(context, context.subject), await included(context, [context.subject])), context.subject);

/** Can be repeated. */
const relate = (kind: Kind, change: 'apply' | 'withdraw') => async (context: Context<VariableSet>) => {
  const { request, subject } = context;
  const ids = await readTargets(request, subject, kind, change === 'apply');
  if (change === 'apply') await apply(subject, kind, ids);
  else await withdrawVariableSet(subject, idsOf[kind], ids);
  return noContent();
};

const searched = ({ query }: ApiRequest): ((set: { name: string }) => boolean) => {
  const text = (query.get('q') ?? '').toLowerCase();
  return (set) => set.name.toLowerCase().includes(text);
};

/** Leaves out workspaces and projects that the caller may not see. */
const asSeen = async ({ principal }: Pick<Context<Subject>, 'principal'>, set: VariableSet): Promise<VariableSet> => {
  const { organization } = set;
  if ((await principal.on({ organization })).has('varset:read')) return set;
  const [workspaces, projects] = [[...(set.workspaceIds ?? [])], [...(set.projectIds ?? [])]];
  const workspace = await principal.onWorkspaces(organization, workspaces);
  const project = await principal.onProjects(organization, projects);
  return {
    ...set,
    workspaceIds: new Set(workspaces.filter((id) => workspace(id).has('workspace:read'))),
    projectIds: new Set(projects.filter((id) => project(id).has('project:read'))),
  };
};

const document = async (context: Pick<Context<Subject>, 'principal'>, variableSet: VariableSet): Promise<Resource> =>
  variableSetDocument(
    await asSeen(context, variableSet),
    await context.principal.on({ organization: variableSet.organization, variableSet }),
  );

const documents = (context: Pick<Context<Subject>, 'principal'>, sets: VariableSet[]): Promise<Resource[]> =>
  Promise.all(sets.map((set) => document(context, set)));

const page = (context: Context<Subject>, sets: VariableSet[]): Promise<Answer> =>
  pageWith(context.request, sets.filter(searched(context.request)), async (shown) => ({
    data: await documents(context, shown),
    included: await included(context, shown),
  }));

const byName = (a: { name: string }, b: { name: string }): number => {
  const [x, y] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return x < y ? -1 : x > y ? 1 : 0;
};

const answerPage = async (
  context: Context<Subject>,
  page: Page,
  { items, total, more }: ScanResult<VariableSet>,
): Promise<Answer> => {
  const data = await documents(context, items);
  return list(context.request, page, totalOf(page, total, more), data, await included(context, items));
};

/** Undefined when the caller may see all sets of the organization. */
const visibleTo = async ({ subject, principal }: Context<Subject>): Promise<VariableSetFilter['visible']> => {
  const { organization } = subject;
  if ((await principal.on({ organization })).has('varset:read')) return undefined;
  return async (sets) => {
    const granted = await Promise.all(sets.map((variableSet) => principal.on({ organization, variableSet })));
    return sets.filter((_, i) => granted[i]?.has('varset:read'));
  };
};

const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const page = pageOf(request);
  const owned = request.query.get('scope') === 'owned';
  const global = request.query.get('filter[global]') || null;
  const named = searched(request);
  if (await context.principal.reachesNothing(subject.organization)) return list(request, page, 0, []);
  const visible = await visibleTo(context);
  if (!visible && !owned && global === null && !request.query.get('q')) {
    return answerPage(context, page, await listVariableSets(subject.record, page));
  }
  const filter: VariableSetFilter = {
    mayFit: (entry) => named(entry) && !(owned && entry.projectId),
    ...(global === null ? {} : { fits: (set) => set.global === (global === 'true') }),
    visible,
  };
  return answerPage(context, page, await findVariableSets(subject.organization, filter, page));
};

const listOfProject = async (context: Context<Project>): Promise<Answer> => {
  const { subject, request, granted } = context;
  const scope = request.query.get('scope') || 'applied';
  const owned =
    scope === 'applied' || scope === 'shared' || !granted.has('varset:read')
      ? []
      : await listOwnVariableSets(subject.id);
  const applied =
    scope === 'owned' || !granted.has('variable:read')
      ? []
      : await listProjectVariableSets(subject.organization, subject.id);
  const shared = scope === 'applied' ? applied : applied.filter(({ projectId }) => projectId === undefined);
  return page(context, [...shared, ...owned].sort(byName));
};

const listOfWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const sets = (await effectiveVariableSets(context.subject)).map(({ set }) => set);
  return page(context, sets.sort(byName));
};

/** Sets that do not apply to the workspace yet. */
const listApplicable = async (context: Context<Workspace>): Promise<Answer> => {
  const { request, subject } = context;
  const page = pageOf(request);
  const named = searched(request);
  const filter: VariableSetFilter = {
    mayFit: (entry) => named(entry) && (entry.projectId === undefined || entry.projectId === subject.projectId),
    fits: (set) => !set.global && !set.workspaceIds?.has(subject.id),
    visible: await visibleTo(context),
  };
  return answerPage(context, page, await findVariableSets(subject.organization, filter, page));
};

const setOfWorkspace = async ({ request, subject }: Context<Workspace>): Promise<VariableSet> => {
  const id = request.params.varset ?? '';
  const effective = (await effectiveVariableSets(subject)).find(({ set }) => set.id === id);
  if (!effective) throw notFound(`Variable set not found in workspace ${subject.name}.`);
  return effective.set;
};

const readVariableOfWorkspace = async (context: Context<Workspace>): Promise<Answer> => {
  const variable = await getVariable((await setOfWorkspace(context)).id, context.request.params.variable ?? '');
  if (!variable) throw notFound('Variable not found in the variable set.');
  return ok(variableDocument(variable));
};

const base = '/varsets/{varset}';
const ofWorkspace = '/workspaces/{workspace}/varsets/{varset}/relationships/vars';

export const variableSetRoutes: Route[] = [
  route('GET', '/organizations/{organization}/varsets', 'organization:read', organization, listOfOrganization, {
    include,
    q: 'text',
    scope: { one: ['owned'] },
    'filter[global]': flag,
  }),
  route('POST', '/organizations/{organization}/varsets', 'varset:write', newVariableSet, create, { include }),
  route('GET', base, 'varset:read', variableSet, read, { include }),
  route('PATCH', base, 'varset:write', variableSet, update, { include }),
  route('POST', base, 'varset:write', variableSet, update, { include }),
  route('DELETE', base, 'varset:write', variableSet, noContentAfter(deleteVariableSet)),
  ...kinds.flatMap((kind): Route[] => [
    route('POST', `${base}/relationships/${kind}`, 'varset:write', variableSet, relate(kind, 'apply')),
    route('DELETE', `${base}/relationships/${kind}`, 'varset:write', variableSet, relate(kind, 'withdraw')),
  ]),
  route('GET', '/projects/{project}/varsets', 'project:read', project, listOfProject, {
    include,
    q: 'text',
    scope: { one: ['applied', 'shared', 'owned', 'all'] },
  }),
  route('GET', '/workspaces/{workspace}/varsets', 'variable:read', workspace, listOfWorkspace, { include, q: 'text' }),
  route('GET', '/workspaces/{workspace}/applicable-varsets', 'variable:read', workspace, listApplicable, {
    include,
    q: 'text',
  }),
  route('GET', ofWorkspace, 'variable:read', workspace, async (context) =>
    listOwned({ request: context.request, subject: await setOfWorkspace(context) }),
  ),
  route('GET', `${ofWorkspace}/{variable}`, 'variable:read', workspace, readVariableOfWorkspace),
];
