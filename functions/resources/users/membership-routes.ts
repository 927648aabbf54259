import * as v from 'valibot';
import { type Answer, json, noContent, ok, type Resource } from '#api/answer.ts';
import { forbidden, notFound, unprocessable } from '#api/errors.ts';
import { byId } from '#api/finders.ts';
import { includable } from '#api/include.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { email } from '#api/names.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice, pageWith } from '#api/pagination.ts';
import { checkPerson, type Principal } from '#api/permissions/principal.ts';
import { type Call, type Context, type Route, route, userRoute } from '#api/route.ts';
import { identifier, readData } from '#api/validation.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { organizationDocument } from '#resources/organizations/document.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { usersIn } from '#resources/teams/member-routes.ts';
import { enterTeam, removeFromTeam } from '#resources/teams/members.ts';
import { checkOwnersStay, lastOwner } from '#resources/teams/owners.ts';
import { ensureOwnersTeam, getTeams } from '#resources/teams/records.ts';
import { teamDocuments, visibleTeams } from '#resources/teams/routes.ts';
import type { Team } from '#resources/teams/team.ts';
import { inviteUser } from './invitations.ts';
import { membershipDocument, membershipEmail, membershipStatus, scimIdentityDocuments } from './membership-document.ts';
import {
  acceptMembership,
  addMember,
  findMembership,
  getMembershipOrInvitation,
  type Membership,
  membershipsAndInvitationsOf,
  membershipsIn,
  removeMember,
  roleOf,
} from './memberships.ts';
import type { User } from './user.ts';
import { userDocument } from './user-document.ts';
import { getUsers } from './users.ts';

/** Members and invitations of an organization (HCP API: organization memberships). */

const otherFields: OtherFields = {
  shown: 'created-at is-org-two-factor-required status username',
  related: 'organization scim-identity user',
};

interface Shown {
  membership: Membership;
  user: User | undefined;
}

const membership = byId({
  what: 'organization membership',
  parameter: 'membership',
  get: findMembership,
  visibleWith: 'membership:read',
  scope: (record) => ({ organization: record.organization, membershipOf: record.userId }),
});

const include = includable('user', 'teams', 'organization', 'scim_identity');
const status = { some: ['active', 'invited', 'inactive'] };

/** Documents of memberships with the teams that the caller sees, and the requested includes. */
const documents = async (
  { request, principal }: Pick<Call, 'request' | 'principal'>,
  shown: Shown[],
): Promise<{ data: Resource[]; included?: Resource[] }> => {
  const includes = include.of(request);
  const ids = shown.flatMap(({ membership: { teams = [] } }) => [...teams]);
  const teams = await visibleTeams(principal, await getTeams([...new Set(ids)]));
  const teamIds = ({ teams: all = new Set() }: Membership) => teams.filter(({ id }) => all.has(id)).map(({ id }) => id);
  const data = shown.map((member) => membershipDocument(member.membership, member.user, teamIds(member.membership)));
  if (includes.size === 0) return { data };
  // An invited user does not see the organization yet.
  const joined = shown.filter(({ membership }) => !membership.invitation || membership.userId !== principal.userId);
  const homes = includes.has('organization')
    ? [...new Set(joined.map((member) => member.membership.organization))]
    : [];
  return {
    data,
    included: [
      ...(includes.has('user')
        ? shown.flatMap((member) => (member.user ? [shownDocument(member.membership, member.user)] : []))
        : []),
      ...(includes.has('teams') ? (await teamDocuments(principal, teams)).data.map(withoutMembers) : []),
      ...(includes.has('scim_identity') ? shown.flatMap(({ membership }) => scimIdentityDocuments(membership)) : []),
      ...(await Promise.all(homes.map((name) => homeDocument(principal, name)))).flat(),
    ],
  };
};

const homeDocument = async (principal: Principal, name: string): Promise<Resource[]> => {
  const home = await getOrganization(name);
  const granted = await principal.on({ organization: name });
  return home && granted.has('organization:read') ? [organizationDocument(home, granted)] : [];
};

/** An invited user has no visible name yet; the address is visible with the membership. */
const shownDocument = (membership: Membership, user: User): Resource => {
  const { attributes, ...document } = userDocument(user);
  const hidden = membership.invitation ? { username: null } : {};
  return { ...document, attributes: { ...attributes, ...hidden, email: membershipEmail(membership, user) } };
};

/** A cycle of included documents breaks clients. */
const withoutMembers = ({ relationships, ...document }: Resource): Resource => {
  const { 'organization-memberships': _, ...rest } = relationships ?? {};
  return { ...document, relationships: rest };
};

const words = (text: string | null): string[] | undefined =>
  text
    ? foldCase(text)
        .split(',')
        .map((word) => word.trim())
    : undefined;

const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const page = pageOf(request);
  const memberships = await membershipsIn(subject.organization);
  const users = new Map((await usersIn(memberships)).map((user) => [user.id, user]));
  const everybody = memberships.map((membership): Shown => ({ membership, user: users.get(membership.userId) }));
  const statuses = words(request.query.get('filter[status]'));
  const emails = words(request.query.get('filter[email]'));
  const search = (request.query.get('q') ?? '').toLowerCase();
  const all = everybody.filter(
    ({ membership, user }) =>
      (!statuses || statuses.includes(membershipStatus(membership, user))) &&
      (!emails || emails.includes(foldCase(membershipEmail(membership, user) ?? ''))) &&
      `${membership.invitation ? '' : user?.username}\n${membershipEmail(membership, user)}`
        .toLowerCase()
        .includes(search),
  );
  const { data, included } = await documents(context, pageSlice(all, page));
  const invited = everybody.filter((member) => membershipStatus(member.membership, member.user) === 'invited').length;
  const counts = { total: everybody.length, active: everybody.length - invited, invited };
  return list(request, page, all.length, data, included, { 'status-counts': counts });
};

const listMine = async (call: Call): Promise<Answer> => {
  const { request, principal } = call;
  const [user] = await getUsers([principal.userId]);
  const statuses = words(request.query.get('filter[status]'));
  const all = (await membershipsAndInvitationsOf(principal.userId)).filter(
    (membership) => !statuses || statuses.includes(membershipStatus(membership, user)),
  );
  const shown = all.map((membership): Shown => ({ membership, user }));
  return pageWith(request, shown, (some) => documents(call, some));
};

const single = async (context: Pick<Call, 'request' | 'principal'>, membership: Membership) => {
  const [user] = await getUsers([membership.userId]);
  const { data, included } = await documents(context, [{ membership: membership, user }]);
  return { data: data[0] as Resource, included };
};

const read = async (context: Context<Membership>): Promise<Answer> => {
  const { data, included } = await single(context, context.subject);
  return ok(data, included);
};

const pointer = '/data/relationships/teams';

/** The teams of a new member. The caller has to be able to see and manage them. */
const teamsOf = async ({ subject, principal }: Context<InOrganization>, ids: string[]): Promise<Team[]> => {
  const teams = await getTeams(ids);
  for (const id of ids) {
    const team = teams.find((candidate) => candidate.id === id && candidate.organization === subject.organization);
    const granted = team && (await principal.on({ organization: subject.organization, team: team }));
    if (!granted?.has('team:read')) {
      throw unprocessable(pointer, `teams: team ${id} not found in ${nameOf(subject.organization)}`);
    }
    if (!granted.has('team:manage-members')) {
      throw forbidden(`teams: adding members to team ${team?.name} needs the permission team:manage-members.`);
    }
  }
  return teams;
};

const invite = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const input = readData(
    request,
    { email },
    { teams: v.optional(v.object({ data: v.pipe(v.array(identifier('teams')), v.maxLength(100)) })) },
    otherFields,
  );
  const ids = [...new Set(input.relationships.teams?.data.map(({ id }) => id) ?? [])];
  const teams = await teamsOf(context, ids);
  const user = await inviteUser(input.attributes.email);
  if (await getMembershipOrInvitation(user.id, subject.organization)) {
    throw unprocessable('/data/attributes/email', `email: ${input.attributes.email} is already a member or invited`);
  }
  await addMember(subject.organization, user.id, 'member', { invitation: { email: input.attributes.email } });
  for (const team of teams) await enterTeam(team, [user.id]);
  const membership = await getMembershipOrInvitation(user.id, subject.organization);
  if (!membership) throw notFound('The membership was ended at the same time.');
  const { data } = await single(context, membership);
  return json(201, { data, included: [shownDocument(membership, user)] });
};

/** Only the invited user may accept it, with a token of their own. */
const accept = async (context: Context<Membership>): Promise<Answer> => {
  const { subject, principal } = context;
  checkPerson(principal);
  if (subject.userId !== principal.userId) throw forbidden('Only the invited user can accept an invitation.');
  const accepted = await acceptMembership(subject);
  if (!accepted) throw notFound('The invitation was withdrawn at the same time.');
  const { data, included } = await single(context, accepted);
  return ok(data, included);
};

/** A caller who is not an owner cannot remove owners, or members of teams that the caller does not see. */
const remove = async ({ subject, principal }: Context<Membership>): Promise<Answer> => {
  const teams = await getTeams([...(subject.teams ?? [])]);
  const own = subject.userId === principal.userId;
  const { role } = await principal.standing(subject.organization);
  const isOwner = roleOf(subject) === 'owner';
  const hidden = teams.length - (await visibleTeams(principal, teams)).length;
  if (!own && role !== 'owner' && (isOwner || hidden > 0)) {
    throw forbidden('Only owners can end this membership: the member is an owner, or in a team that you cannot see.');
  }
  const home = await getOrganization(subject.organization);
  const owners = isOwner && home ? await ensureOwnersTeam(home) : undefined;
  if (owners) {
    await checkOwnersStay(owners, [subject.userId]);
    if (!(await removeFromTeam(owners, subject.userId))) throw lastOwner(owners);
  }
  await removeMember(subject);
  for (const team of teams) if (!team.owners) await removeFromTeam(team, subject.userId);
  return noContent();
};

const ofOrganization = '/organizations/{organization}/organization-memberships';

export const membershipRoutes: Route[] = [
  userRoute('GET', '/organization-memberships', 'any user', listMine, { include, 'filter[status]': status }),
  route('GET', '/organization-memberships/{membership}', 'membership:read', membership, read, { include }),
  route('DELETE', '/organization-memberships/{membership}', 'membership:write', membership, remove),
  route('POST', '/organization-memberships/{membership}/actions/accept', 'membership:read', membership, accept),
  route('GET', ofOrganization, 'membership:read', organization, listOfOrganization, {
    include,
    q: 'text',
    'filter[status]': status,
    'filter[email]': 'text',
  }),
  route('POST', ofOrganization, 'membership:write', organization, invite, { include }),
];
