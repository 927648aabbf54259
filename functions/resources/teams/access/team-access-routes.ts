import { type Answer, created, noContent, ok, type Resource } from '#api/answer.ts';
import { badRequest, forbidden, notFound, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { pageFrom } from '#api/pagination.ts';
import { ofProjectGrant, ofWorkspaceGrant, type Permission, type Permissions } from '#api/permissions/permissions.ts';
import type { ProjectGrant, TeamAccess, WorkspaceGrant } from '#api/permissions/team-access.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Finder, type Route, route, type Subject } from '#api/route.ts';
import { requiredIn } from '#api/validation.ts';
import { project as projectFinder } from '#resources/projects/finder.ts';
import { getProject, getProjects, type Project } from '#resources/projects/records.ts';
import { workspace as workspaceFinder } from '#resources/workspaces/finder.ts';
import { getWorkspace, getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { team as teamFinder } from '../finder.ts';
import { changeGrant, getGrantRecord, grant, grantsOfTeam, maxGrants, revoke } from '../grants.ts';
import { getTeam, getTeams } from '../records.ts';
import { visibleTeams } from '../routes.ts';
import type { Team } from '../team.ts';
import { teamProjectDocument, teamWorkspaceDocument } from './team-access-document.ts';
import {
  readNewProjectGrant,
  readNewWorkspaceGrant,
  readProjectGrantChange,
  readWorkspaceGrantChange,
} from './team-access-input.ts';

/** Access of teams to workspaces and projects (HCP API: team access, project team access). */

type Grant = WorkspaceGrant | ProjectGrant;

interface On extends Subject {
  id: string;
  name: string;
}

/** What differs between grants on workspaces and on projects. */
interface Kind<S extends On, G extends Grant> {
  /** `team-workspaces` */
  type: string;
  what: 'workspace' | 'project';
  finder: Finder<S>;
  get(id: string): Promise<S | undefined>;
  idIn(record: { workspaceId?: string; projectId?: string }): string | undefined;
  accessOf(subject: S): TeamAccess<G> | undefined;
  readNew(request: ApiRequest): { teamId: string; grant: Omit<G, 'id'> };
  readChange(request: ApiRequest, before: G): G;
  on(subject: S): { workspace: Workspace } | { project: Project };
  gives(grant: Omit<G, 'id'>): Permissions;
  document(id: string, teamId: string, grant: G): Resource;
  reading: Permission;
  managing: Permission;
}

/** A grant as the subject of a route, with its workspace or project. */
interface SubjectGrant<S extends On, G> extends Subject {
  subject: S;
  teamId: string;
  grant: G;
}

/** Callers cannot grant permissions that they lack. */
const checkGiven = (granted: ReadonlySet<Permission>, permissions: Permissions, place: string): void => {
  const missing = permissions.find((permission) => !granted.has(permission));
  if (missing) throw forbidden(`You cannot grant permissions that you don't have on this ${place}: ${missing}.`);
};

type Handler<S extends Subject> = (context: Context<S>) => Promise<Answer>;

const grantFinder = <S extends On, G extends Grant>(kind: Kind<S, G>): Finder<SubjectGrant<S, G>> => ({
  what: 'team access',
  find: async ({ params }) => {
    const record = await getGrantRecord(params.grant ?? '');
    const id = record && kind.idIn(record);
    const subject = id === undefined ? undefined : await kind.get(id);
    const current = record && subject && kind.accessOf(subject)?.[record.teamId];
    if (!record || !subject || !current || current.id !== record.id) return undefined;
    return { organization: subject.organization, subject, teamId: record.teamId, grant: current };
  },
  visibleWith: kind.reading,
  scope: ({ subject, teamId }) => ({ ...kind.finder.scope(subject), accessOf: teamId }),
});

const inBody = <S extends On, G extends Grant>({ finder, what, get }: Kind<S, G>): Finder<S> => ({
  ...finder,
  find: async (request) => get(requiredIn(request, what, `${what}s`)),
});

const inQuery = <S extends On, G extends Grant>({ finder, get }: Kind<S, G>, parameter: string): Finder<S> => ({
  ...finder,
  find: async ({ query }) => {
    const id = query.get(parameter);
    if (!id) throw badRequest(`${parameter} is required.`, parameter);
    return get(id);
  },
});

/**
 * Ids of teams whose grants the caller sees: their own teams, and for callers who manage teams here, teams that are
 * not secret.
 */
const visibleIds = async (
  { principal, granted, subject }: Context<Subject>,
  teams: Team[],
  reading: Permission,
): Promise<Set<string>> => {
  const own = new Set((await principal.standing(subject.organization)).teams.map(({ id }) => id));
  const candidates = granted.has(reading) ? teams : teams.filter(({ id }) => own.has(id));
  return new Set((await visibleTeams(principal, candidates)).map(({ id }) => id));
};

const listGrants =
  <S extends On, G extends Grant>(kind: Kind<S, G>): Handler<S> =>
  async (context) => {
    const { request, subject } = context;
    const access = kind.accessOf(subject) ?? {};
    const teamId = request.query.get('filter[team][id]') || null;
    const teams = await getTeams(Object.keys(access).filter((id) => teamId === null || id === teamId));
    const visible = await visibleIds(context, teams, kind.reading);
    const shown = teams.filter(({ id }) => visible.has(id)).sort((a, b) => (a.name < b.name ? -1 : 1));
    return pageFrom(request, shown, ({ id }) => kind.document(subject.id, id, access[id] as G));
  };

const createGrant =
  <S extends On, G extends Grant>(kind: Kind<S, G>): Handler<S> =>
  async ({ request, subject, principal, granted }) => {
    const { teamId, grant: newGrant } = kind.readNew(request);
    const pointer = '/data/relationships/team';
    const team = await getTeam(teamId);
    const isVisible = team && (await visibleTeams(principal, [team])).length > 0;
    if (!isVisible || team.organization !== subject.organization) {
      throw unprocessable(pointer, `team: team ${teamId} not found in ${nameOf(subject.organization)}`);
    }
    if (team.owners) throw unprocessable(pointer, 'team: the owners team already has full access');
    checkGiven(granted, kind.gives(newGrant), kind.what);
    if (Object.keys(kind.accessOf(subject) ?? {}).length >= maxGrants) {
      throw unprocessable(
        '/data',
        `At most ${maxGrants} teams can have access to a ${kind.what}. Grant access on its project instead.`,
      );
    }
    const createdGrant = (await grant(kind.on(subject), team.id, newGrant as never)) as G | undefined;
    if (!createdGrant) throw unprocessable(pointer, `team: ${team.name} already has access to ${subject.name}`);
    return created(kind.document(subject.id, team.id, createdGrant));
  };

const readGrant =
  <S extends On, G extends Grant>(kind: Kind<S, G>): Handler<SubjectGrant<S, G>> =>
  async (context) => {
    const { subject, teamId, grant: current } = context.subject;
    return ok(kind.document(subject.id, teamId, current));
  };

const updateGrant =
  <S extends On, G extends Grant>(kind: Kind<S, G>): Handler<SubjectGrant<S, G>> =>
  async (context) => {
    const { subject, teamId, grant: before } = context.subject;
    const change = kind.readChange(context.request, before);
    checkGiven(context.granted, kind.gives(change), kind.what);
    const changed = await changeGrant(kind.on(subject), teamId, change);
    if (!changed) throw notFound('The team access was removed at the same time.');
    return ok(kind.document(subject.id, teamId, changed));
  };

const removeGrant =
  <S extends On, G extends Grant>(kind: Kind<S, G>): Handler<SubjectGrant<S, G>> =>
  async (context) => {
    const { teamId, grant: current, organization, subject } = context.subject;
    const place = kind.what === 'workspace' ? { workspaceId: subject.id } : { projectId: subject.id };
    await revoke({ id: current.id, teamId, organization, ...place });
    return noContent();
  };

/**
 * Not in HCP's API: projects and workspaces on which the team has access, with their names, as far as the caller may read
 * the access of teams there or is a member of this one. 1 query, 1 read per 100 grants.
 */
const accessOfTeam: Handler<Team> = async ({ request, subject: { id: teamId, organization }, principal }) => {
  const records = await grantsOfTeam(teamId);
  const [workspaces, projects] = await Promise.all([
    getWorkspaces(records.flatMap(({ workspaceId }) => workspaceId ?? [])),
    getProjects(records.flatMap(({ projectId }) => projectId ?? [])),
  ]);
  const [standing, onWorkspace, onProject] = await Promise.all([
    principal.standing(organization),
    principal.onWorkspaces(organization, workspaces),
    principal.onProjects(organization, projects),
  ]);
  const isMember = standing.teams.some(({ id }) => id === teamId);
  const inProjects = projects.flatMap((project) => {
    const current = project.teamAccess?.[teamId];
    if (!current || !(isMember || onProject(project.id).has('project:read-teams'))) return [];
    const { name } = project;
    const { attributes, ...document } = teamProjectDocument(project.id, teamId, current);
    return [{ name, document: { ...document, type: 'team-projects', attributes: { ...attributes, name } } }];
  });
  const inWorkspaces = workspaces.flatMap((workspace) => {
    const current = workspace.teamAccess?.[teamId];
    if (!current || !(isMember || onWorkspace(workspace.id).has('workspace:read-teams'))) return [];
    const { name } = workspace;
    const { attributes, ...document } = teamWorkspaceDocument(workspace.id, teamId, current);
    return [{ name, document: { ...document, type: 'team-workspaces', attributes: { ...attributes, name } } }];
  });
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const sorted = [...inProjects.sort(byName), ...inWorkspaces.sort(byName)];
  const documents = sorted.map(({ document }) => document);
  return pageFrom(request, documents, (document) => document);
};

const routesOf = <S extends On, G extends Grant>(kind: Kind<S, G>): Route[] => {
  const { type, reading, managing, finder } = kind;
  const teamAccess = grantFinder(kind);
  const parameter = `filter[${kind.what}][id]` as const;
  const path = `/${type}/{grant}` as const;
  return [
    route('GET', `/${type}`, finder.visibleWith as Permission, inQuery(kind, parameter), listGrants(kind), {
      [parameter]: 'text',
      'filter[team][id]': 'text',
    }),
    route('POST', `/${type}`, managing, inBody(kind), createGrant(kind)),
    route('GET', path, reading, teamAccess, readGrant(kind)),
    route('PATCH', path, managing, teamAccess, updateGrant(kind)),
    route('DELETE', path, managing, teamAccess, removeGrant(kind)),
  ];
};

export const teamAccessRoutes: Route[] = [
  route('GET', '/teams/{team}/access', 'team:read', teamFinder, accessOfTeam),
  ...routesOf<Workspace, WorkspaceGrant>({
    type: 'team-workspaces',
    what: 'workspace',
    finder: workspaceFinder,
    get: getWorkspace,
    idIn: ({ workspaceId }) => workspaceId,
    accessOf: ({ teamAccess }) => teamAccess,
    readNew: readNewWorkspaceGrant,
    readChange: readWorkspaceGrantChange,
    on: (workspace) => ({ workspace }),
    gives: ofWorkspaceGrant,
    document: teamWorkspaceDocument,
    reading: 'workspace:read-teams',
    managing: 'workspace:manage-teams',
  }),
  ...routesOf<Project, ProjectGrant>({
    type: 'team-projects',
    what: 'project',
    finder: projectFinder,
    get: getProject,
    idIn: ({ projectId }) => projectId,
    accessOf: ({ teamAccess }) => teamAccess,
    readNew: readNewProjectGrant,
    readChange: readProjectGrantChange,
    on: (project) => ({ project }),
    gives: ofProjectGrant,
    document: teamProjectDocument,
    reading: 'project:read-teams',
    managing: 'project:manage-teams',
  }),
];
