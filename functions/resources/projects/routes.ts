import { type Answer, created, many, noContent, ok, type Resource } from '#api/answer.ts';
import { badRequest, conflict, nameTaken } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { list, pageOf, pageSlice, totalOf } from '#api/pagination.ts';
import type { Reach } from '#api/permissions/grants.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { withPool } from '#resources/agents/pools/input.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { projectDocument, projectDocuments } from './document.ts';
import { project } from './finder.ts';
import { readNewProject, readProjectChange } from './input.ts';
import {
  createProject,
  findProjects,
  getProject,
  getProjects,
  listProjects,
  type Project,
  updateProject,
} from './records.ts';
import { tagFilter, tagTests } from './tag-filter.ts';
import { effectiveBindings } from './tag-routes.ts';

const maxNames = 100;

const byName = (a: Project, b: Project): number => {
  const [x, y] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return x < y ? -1 : x > y ? 1 : 0;
};

/** Projects on which the caller's teams have grants: few enough to read them all. */
const within = async ({ subject, principal }: Context<InOrganization>, reach: Reach): Promise<Project[]> => {
  const reachable = await getProjects([...reach.projectIds]);
  const granted = await principal.onProjects(subject.organization, reachable);
  return reachable.filter(({ id }) => granted(id).has('project:read'));
};

const listAll = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, principal } = context;
  const page = pageOf(request);
  const names = request.query
    .get('filter[names]')
    ?.split(',')
    .map((name) => name.trim());
  const folded = (names ?? []).map(foldCase);
  const search = (request.query.get('q') ?? '').toLowerCase();
  const descending = request.query.get('sort') === '-name';
  const tests = tagTests(request.query);
  const fits = (name: string) => name.toLowerCase().includes(search);
  const matches = ({ tags = [] }: Project) => tests.every((test) => test(tags));
  const answer = async (projects: Project[], total: number) =>
    list(request, page, total, ...withTags(request, projects, await projectDocuments(principal, projects)));
  const answerAll = (projects: Project[]) => {
    const sorted = projects.filter((project) => fits(project.name) && matches(project)).sort(byName);
    return answer(pageSlice(descending ? sorted.reverse() : sorted, page), sorted.length);
  };
  if (names && names.length > maxNames) {
    throw badRequest(`filter[names] may have at most ${maxNames} names.`, 'filter[names]');
  }
  const reach = await principal.reach(subject.organization, 'project:read');
  if (reach) {
    const visible = await within(context, reach);
    return answerAll(names ? visible.filter(({ name }) => folded.includes(foldCase(name))) : visible);
  }
  if (names) return answerAll(await findProjects(subject.organization, names));
  const { items, total, more } = await listProjects(subject.record, page, {
    descending,
    ...(search ? { fits } : {}),
    ...(tests.length > 0 ? { matches } : {}),
  });
  return answer(items, totalOf(page, total, more));
};

const create = async ({ request, subject, granted }: Context<InOrganization>): Promise<Answer> => {
  const settings = await readNewProject(request, subject.organization);
  const project = await withPool(() => createProject(settings));
  if (!project) throw nameTaken();
  return created(projectDocument(project, granted));
};

const include = includable('effective_tag_bindings');

/** Documents, with the projects' tags if the request includes them. */
const withTags = (request: ApiRequest, projects: Project[], data: Resource[]): [Resource[], Resource[] | undefined] => {
  if (!include.of(request).has('effective_tag_bindings')) return [data, undefined];
  const tags = new Map(projects.map((project) => [project.id, effectiveBindings(project)]));
  const related = data.map(({ relationships, ...document }) => {
    const ids = (tags.get(document.id) ?? []).map(({ id }) => id);
    return {
      ...document,
      relationships: { ...relationships, 'effective-tag-bindings': many('effective-tag-bindings', ids) },
    };
  });
  return [related, data.flatMap(({ id }) => tags.get(id) ?? [])];
};

const read = async ({ request, subject, granted }: Context<Project>): Promise<Answer> => {
  const [[document], included] = withTags(request, [subject], [projectDocument(subject, granted)]);
  return withEtag(ok(document as Resource, included), subject);
};

/** Updates of a project's workspaces after the project changed. */
interface Below {
  /** Copies execution mode and agent pool to workspaces that inherit them (resources/workspaces/execution-modes.ts). */
  carry(project: Project): Promise<void>;
  /** Copies the auto-destroy duration in the same way (resources/workspaces/inherited-auto-destroy.ts). */
  carryAutoDestroy(project: Project): Promise<void>;
  hasWorkspaces(project: Project): Promise<boolean>;
  deleteProject(project: Project): Promise<void>;
}

const update =
  ({ carry, carryAutoDestroy }: Below) =>
  async (context: Context<Project>): Promise<Answer> => {
    const { request, subject } = context;
    const change = await readProjectChange(request, subject);
    const editor = await editorOf(context, subject, 'project');
    if (Object.keys(change).length === 0) return read(context);
    const updated = await withPool(() => updateProject(subject, change, editor));
    if (!updated) throw await refusedChange(request, 'project', await getProject(subject.id), nameTaken());
    if (change.inheritsExecutionMode !== undefined) await carry(updated);
    if (change.autoDestroyActivityDuration !== undefined) await carryAutoDestroy(updated);
    return read({ ...context, subject: updated });
  };

const remove =
  ({ hasWorkspaces, deleteProject }: Below) =>
  async ({ subject }: Context<Project>): Promise<Answer> => {
    const home = await getOrganization(subject.organization);
    if (home?.defaultProjectId === subject.id) {
      throw conflict(`Project ${subject.name} is the organization's default project and cannot be deleted.`);
    }
    if (await hasWorkspaces(subject)) {
      throw conflict(`Project ${subject.name} still has workspaces. Move or delete them first.`);
    }
    await deleteProject(subject);
    return noContent();
  };

export const projectRoutes = (below: Below): Route[] => [
  route('GET', '/organizations/{organization}/projects', 'organization:read', organization, listAll, {
    include,
    q: 'text',
    'filter[names]': 'text',
    ...tagFilter,
    sort: { one: ['name', '-name'] },
  }),
  route('POST', '/organizations/{organization}/projects', 'project:create', organization, create),
  route('GET', '/projects/{project}', 'project:read', project, read, { include }),
  route('PATCH', '/projects/{project}', 'project:update', project, update(below)),
  route('DELETE', '/projects/{project}', 'project:delete', project, remove(below)),
];
