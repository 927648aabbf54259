import { type Answer, noContent, ok, type Resource } from '#api/answer.ts';
import { badRequest, conflict, forbidden, nameTaken, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import type { Principal } from '#api/permissions/principal.ts';
import { type Context, type Route, route, type Subject } from '#api/route.ts';
import { environment } from '#platform/environment.ts';
import { mapsGroups } from '#resources/organizations/admission-rules.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization, type Organization } from '#resources/organizations/records.ts';
import { membershipDocument } from '#resources/users/membership-document.ts';
import { getMemberships, type Membership } from '#resources/users/memberships.ts';
import type { User } from '#resources/users/user.ts';
import { userDocument } from '#resources/users/user-document.ts';
import { getUsers } from '#resources/users/users.ts';
import { teamDocument } from './document.ts';
import { team } from './finder.ts';
import { readNewTeam, readTeamChange } from './input.ts';
import { usersOfTeam } from './members.ts';
import { createTeam, deleteTeam, ensureOwnersTeam, getTeam, listTeams, ownersTeamId, updateTeam } from './records.ts';
import type { Team } from './team.ts';

/** Teams of an organization (HCP API: teams). Routes of their members: member-routes.ts. */

/** The teams that the caller may read. */
export const visibleTeams = async (principal: Principal, teams: Team[]): Promise<Team[]> => {
  const granted = await Promise.all(teams.map((team) => principal.on({ organization: team.organization, team })));
  return teams.filter((_, i) => granted[i]?.has('team:read'));
};

/** Maximum number of users included with teams, so that the response stays within the size limit. */
const maxIncluded = 1000;

/** Documents of teams with their members. 1 read per 100 teams. */
export const teamDocuments = async (
  principal: Principal,
  teams: Team[],
): Promise<{ data: Resource[]; userIds: string[] }> => {
  const users = await usersOfTeam.ofEach(teams.map(({ id }) => id));
  const data = await Promise.all(
    teams.map(async (team, i) =>
      teamDocument(team, await principal.on({ organization: team.organization, team }), users[i] ?? []),
    ),
  );
  return { data, userIds: [...new Set(users.flat())] };
};

/** Memberships that the caller may read. They contain e-mail addresses, which the list of a team's members does not. */
export const visibleMemberships = async (principal: Principal, memberships: Membership[]): Promise<Membership[]> => {
  const granted = await Promise.all(
    memberships.map(({ organization, userId }) => principal.on({ organization, membershipOf: userId })),
  );
  return memberships.filter((_, i) => granted[i]?.has('membership:read'));
};

const include = includable('users', 'organization_memberships');

const included = async (
  { request, subject, principal }: Context<Subject>,
  userIds: string[],
): Promise<Resource[] | undefined> => {
  const includes = include.of(request);
  if (includes.size === 0) return undefined;
  if (userIds.length > maxIncluded) {
    throw badRequest(
      `include: these teams have ${userIds.length} users; at most ${maxIncluded} can be included. Request a smaller page, or list the organization's memberships.`,
      'include',
    );
  }
  const users = await getUsers(userIds);
  const memberships = includes.has('organization_memberships')
    ? await visibleMemberships(
        principal,
        await getMemberships(
          subject.organization,
          users.map(({ id }) => id),
        ),
      )
    : [];
  return [...(includes.has('users') ? users.map((user) => userDocument(user)) : []), ...withUsers(memberships, users)];
};

/** Leaves out the teams of the users: a cycle of included documents breaks clients. */
const withUsers = (memberships: Membership[], users: User[]): Resource[] =>
  memberships.map((membership) => {
    const { relationships, ...document } = membershipDocument(
      membership,
      users.find(({ id }) => id === membership.userId),
      [],
    );
    const { teams: _, ...rest } = relationships ?? {};
    return { ...document, relationships: rest };
  });

const answer = async (context: Context<Subject>, team: Team): Promise<[Resource, Resource[] | undefined]> => {
  const { data, userIds } = await teamDocuments(context.principal, [team]);
  return [data[0] as Resource, await included(context, userIds)];
};

const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, principal } = context;
  const page = pageOf(request);
  const names = (request.query.get('filter[names]') || undefined)?.split(',');
  const search = (request.query.get('q') ?? '').toLowerCase();
  const all = await listTeams(subject.organization);
  if (!all.some(({ id }) => id === ownersTeamId(subject.record))) all.unshift(await ensureOwnersTeam(subject.record));
  const fitting = all.filter(({ name }) => (!names || names.includes(name)) && name.toLowerCase().includes(search));
  const visible = await visibleTeams(principal, fitting);
  const { data, userIds } = await teamDocuments(principal, pageSlice(visible, page));
  return list(request, page, visible.length, data, await included(context, userIds));
};

const checkAccess = ({ granted }: Context<Subject>, change: Partial<Team>): void => {
  if (change.organizationAccess === undefined || granted.has('team:manage-access')) return;
  throw forbidden('Changing what a team may do in the organization needs the permission team:manage-access.');
};

/** A caller who cannot see secret teams cannot create one. */
const visibilityOf = ({ granted }: Context<Subject>, change: Partial<Team>): Team['visibility'] => {
  if (granted.has('team:read-secret')) return change.visibility ?? 'secret';
  if (change.visibility === 'secret') throw secret();
  return 'organization';
};

const secret = () => forbidden('visibility: creating a secret team needs the permission team:read-secret.');

/**
 * Only organizations chosen by the operator may map groups of the issuer, because group membership is confidential; in
 * others, the value links a group of the organization's own directory. Without group support at the issuer, the value
 * is stored for later use.
 */
const checkGroup = (home: Organization | undefined): void => {
  if (!environment.organizationRules.readsGroups) return;
  if (home && (home.hasDirectory || mapsGroups(home))) return;
  throw unprocessable(
    '/data/attributes/sso-team-id',
    'sso-team-id: groups are not mapped to teams of this organization. The operator of this platform can enable that with the setting signInGroupOrganizations',
  );
};

const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const settings = readNewTeam(context.request);
  if (settings.ssoTeamId) checkGroup(context.subject.record);
  if (settings.organizationAccess?.length) checkAccess(context, settings);
  const createdTeam = await createTeam(context.subject.organization, {
    ...settings,
    visibility: visibilityOf(context, settings),
  });
  if (!createdTeam) throw nameTaken();
  const [document] = await answer(context, createdTeam);
  // 200 as in HCP's API description; other creations answer 201.
  return ok(document);
};

const update = async (context: Context<Team>): Promise<Answer> => {
  const { request, subject, granted } = context;
  const change = readTeamChange(request, subject);
  if (subject.owners && (change.organizationAccess || (change.name ?? subject.name) !== subject.name)) {
    throw unprocessable('/data/attributes', "The owners team's name and permissions cannot be changed.");
  }
  checkAccess(context, change);
  if (change.ssoTeamId && change.ssoTeamId !== subject.ssoTeamId) {
    checkGroup(await getOrganization(subject.organization));
  }
  if (change.visibility === 'secret' && subject.visibility !== 'secret' && !granted.has('team:read-secret')) {
    throw secret();
  }
  const editor = await editorOf(context, subject, 'team');
  const updated = Object.keys(change).length ? await updateTeam(subject, change, editor) : subject;
  if (updated) return withEtag(ok(...(await answer(context, updated))), updated);
  throw await refusedChange(request, 'team', await getTeam(subject.id), nameTaken());
};

const remove = async ({ subject }: Context<Team>): Promise<Answer> => {
  if (subject.owners) throw conflict(`The owners team of ${nameOf(subject.organization)} cannot be deleted.`);
  await deleteTeam(subject);
  return noContent();
};

export const teamRoutes: Route[] = [
  route('GET', '/organizations/{organization}/teams', 'team:read', organization, listOfOrganization, {
    include,
    q: 'text',
    'filter[names]': 'text',
  }),
  route('POST', '/organizations/{organization}/teams', 'team:write', organization, create, { include }),
  route(
    'GET',
    '/teams/{team}',
    'team:read',
    team,
    async (context) => withEtag(ok(...(await answer(context, context.subject))), context.subject),
    { include },
  ),
  route('PATCH', '/teams/{team}', 'team:write', team, update, { include }),
  route('DELETE', '/teams/{team}', 'team:write', team, remove),
];
