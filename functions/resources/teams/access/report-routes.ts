import { type Answer, many, one } from '#api/answer.ts';
import { badRequest, notFound } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import {
  type Granted,
  onOrganization,
  onProject,
  onWorkspace,
  type Role,
  type Standing,
} from '#api/permissions/granted.ts';
import { inTeam, type Permission, permissions } from '#api/permissions/permissions.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { derivedId } from '#platform/store/id.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getProject, getProjects, type Project } from '#resources/projects/records.ts';
import { accepted, membershipsIn, roleOf } from '#resources/users/memberships.ts';
import { getWorkspace, getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { reachOf } from '../grants.ts';
import { usersIn } from '../member-routes.ts';
import { listTeams } from '../records.ts';
import { visibleTeams } from '../routes.ts';
import type { Team } from '../team.ts';

/**
 * Users and teams with a permission, computed from the same table as the check of a request. Not in HCP's API. An entry
 * is a user or a team, whose tokens have its permissions, and a place: the organization, a project or a workspace.
 */

interface Holder {
  type: 'users' | 'teams';
  id: string;
  name: string;
  standing: { role: Role; teams: Team[] };
}

interface Place {
  type: 'organizations' | 'projects' | 'workspaces';
  id: string;
  name: string;
  /** For projects and workspaces, without the permissions that all teams of the organization have. */
  granted(standing: Standing): Granted;
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** Members first. Secret teams that the caller does not see add nothing. 2 queries, 1 read per 100 members and teams. */
const holdersIn = async ({ principal, subject }: Context<InOrganization>): Promise<Holder[]> => {
  const [memberships, all] = await Promise.all([membershipsIn(subject.organization), listTeams(subject.organization)]);
  const teams = await visibleTeams(principal, all);
  const members = memberships.filter(accepted);
  const users = new Map((await usersIn(members)).map((user) => [user.id, user]));
  const roleIn = ({ owners }: Team) => (owners ? 'owner' : 'member');
  return [
    ...members
      .map((membership): Holder => {
        const { userId, teams: ids = new Set() } = membership;
        const user = users.get(userId);
        const standing = { role: roleOf(membership), teams: teams.filter(({ id }) => ids.has(id)) };
        return { type: 'users', id: userId, name: user?.username || user?.email || userId, standing };
      })
      .sort(byName),
    ...teams
      .map(
        (team): Holder => ({
          type: 'teams',
          id: team.id,
          name: team.name,
          standing: { role: roleIn(team), teams: [team] },
        }),
      )
      .sort(byName),
  ];
};

const placeOf = ({ name, externalId }: InOrganization['record']): Place => ({
  type: 'organizations',
  id: externalId,
  name: nameOf(name),
  granted: onOrganization,
});

const here = (granted: Granted): Granted => new Set([...granted].filter((permission) => !inTeam.includes(permission)));

const ofProject = (project: Project): Place => ({
  type: 'projects',
  id: project.id,
  name: project.name,
  granted: (standing) => here(onProject(standing, project)),
});

const ofWorkspace = (workspace: Workspace, project: Project | undefined): Place => ({
  type: 'workspaces',
  id: workspace.id,
  name: workspace.name,
  granted: (standing) => here(onWorkspace(standing, workspace, project)),
});

const hidden = (place: string) => notFound(`${place} not found, or you don't have permission to read its team access.`);

/** The named place, if the caller may read who has access there. */
const placeIn = async ({ request, subject, principal }: Context<InOrganization>): Promise<Place | undefined> => {
  const { organization } = subject;
  const workspaceId = request.query.get('filter[workspace][id]');
  const projectId = request.query.get('filter[project][id]');
  if (workspaceId && projectId) throw badRequest('Give a workspace or a project, not both.', 'filter[project][id]');
  if (workspaceId) {
    const granted = await principal.on({ organization, workspace: workspaceId });
    const workspace = granted.has('workspace:read-teams') ? await getWorkspace(workspaceId) : undefined;
    if (!workspace) throw hidden(`Workspace ${workspaceId}`);
    return ofWorkspace(workspace, await getProject(workspace.projectId));
  }
  if (!projectId) return undefined;
  const project = await getProject(projectId);
  if (project?.organization !== organization) throw hidden(`Project ${projectId}`);
  const granted = await principal.on({ organization, project });
  if (!granted.has('project:read-teams')) throw hidden(`Project ${projectId}`);
  return ofProject(project);
};

/**
 * The organization, and the projects and workspaces on which the holder's teams have a grant, as far as the caller may
 * read who has access there. 1 query per team, 1 read per 100 places.
 */
const placesOf = async (context: Context<InOrganization>, { standing }: Holder): Promise<Place[]> => {
  const { subject, principal } = context;
  const reach = await reachOf(standing.teams.map(({ id }) => id));
  const [workspaces, projects] = await Promise.all([
    getWorkspaces([...reach.workspaceIds]),
    getProjects([...reach.projectIds]),
  ]);
  const [readsWorkspace, readsProject, homes] = await Promise.all([
    principal.onWorkspaces(subject.organization, workspaces),
    principal.onProjects(subject.organization, projects),
    getProjects([...new Set(workspaces.map(({ projectId }) => projectId))]),
  ]);
  const homeOf = ({ projectId }: Workspace) => homes.find(({ id }) => id === projectId);
  return [
    placeOf(subject.record),
    ...projects
      .filter(({ id }) => readsProject(id).has('project:read-teams'))
      .map(ofProject)
      .sort(byName),
    ...workspaces
      .filter(({ id }) => readsWorkspace(id).has('workspace:read-teams'))
      .map((workspace) => ofWorkspace(workspace, homeOf(workspace)))
      .sort(byName),
  ];
};

interface Entry {
  holder: Holder;
  place: Place;
  granted: Granted;
}

/** Teams without which the holder would lack one of these permissions here. */
const teamsThatGive = ({ holder: { standing }, place }: Entry, wanted: readonly Permission[]): Team[] => {
  if (standing.role === 'owner') return standing.teams.filter(({ owners }) => owners);
  const basics = place.granted({ role: 'member', teams: [] });
  return standing.teams.filter((team) => {
    const alone = place.granted({ role: 'member', teams: [team] });
    return wanted.some((permission) => alone.has(permission) && !basics.has(permission));
  });
};

export const entryDocument = (entry: Entry, wanted: Permission | undefined) => {
  const { holder, place, granted } = entry;
  const through = teamsThatGive(entry, wanted ? [wanted] : [...granted]);
  return {
    id: derivedId('access', `${holder.id} ${place.id}`),
    type: 'access-entries',
    attributes: {
      'holder-name': holder.name,
      'place-name': place.name,
      permissions: permissions.filter((permission) => granted.has(permission)),
      through: through.map(({ name }) => name),
    },
    relationships: {
      holder: one(holder.type, holder.id),
      place: one(place.type, place.type === 'organizations' ? place.name : place.id),
      teams: many(
        'teams',
        through.map(({ id }) => id),
      ),
    },
  };
};

const namedHolder = (request: ApiRequest): { parameter: string; id: string } | undefined => {
  const [first, second] = ['filter[user][id]', 'filter[team][id]'].flatMap((parameter) => {
    const id = request.query.get(parameter);
    return id ? [{ parameter, id }] : [];
  });
  if (second) throw badRequest('Give a user or a team, not both.', second.parameter);
  return first;
};

/** Of one user or team everywhere, or of all users and teams at one place: the organization, unless another is named. */
const report = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, granted } = context;
  const page = pageOf(request, 100);
  const wanted = (request.query.get('filter[permission]') || undefined) as Permission | undefined;
  const named = namedHolder(request);
  const [all, place] = await Promise.all([holdersIn(context), placeIn(context)]);
  const holders = all.filter(({ id }) => !named || id === named.id);
  const [holder] = holders;
  if (named && !holder) throw notFound(`${named.id} is not a member or team that you see.`);
  const places = place ? [place] : named && holder ? await placesOf(context, holder) : [placeOf(subject.record)];
  const entries = holders
    .flatMap((one) => places.map((here): Entry => ({ holder: one, place: here, granted: here.granted(one.standing) })))
    .filter((entry) => entry.granted.size > 0 && (!wanted || entry.granted.has(wanted)));
  return list(
    request,
    page,
    entries.length,
    pageSlice(entries, page).map((entry) => entryDocument(entry, wanted)),
    undefined,
    // Permissions through secret teams are missing for others.
    { 'includes-secret-teams': granted.has('team:read-secret') },
  );
};

export const accessReportRoutes: Route[] = [
  route('GET', '/organizations/{organization}/access-report', 'membership:read', organization, report, {
    'filter[workspace][id]': 'text',
    'filter[project][id]': 'text',
    'filter[user][id]': 'text',
    'filter[team][id]': 'text',
    'filter[permission]': { one: permissions },
  }),
];
