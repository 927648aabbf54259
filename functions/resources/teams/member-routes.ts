import * as v from 'valibot';
import { type Answer, noContent, type Resource } from '#api/answer.ts';
import { conflict, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { type Context, type Route, route } from '#api/route.ts';
import { identifier, readWhole } from '#api/validation.ts';
import { membershipDocument, membershipStatus } from '#resources/users/membership-document.ts';
import { getMemberships, type Membership, membershipId, membershipsIn } from '#resources/users/memberships.ts';
import type { User } from '#resources/users/user.ts';
import { getUsers } from '#resources/users/users.ts';
import { team } from './finder.ts';
import { enterTeam, maxUsers, removeFromTeam, usersOfTeam } from './members.ts';
import { checkOwnersStay, lastOwner } from './owners.ts';
import { visibleMemberships } from './routes.ts';
import type { Team } from './team.ts';

/** Members of teams (HCP API: team members). */

const maxAtOnce = 100;

const body = (type: 'users' | 'organization-memberships') =>
  v.object({
    data: v.pipe(v.array(identifier(type)), v.maxLength(maxAtOnce, `may have at most ${maxAtOnce} at once`)),
  });

const idsIn = ({ request }: Context<Team>, type: 'users' | 'organization-memberships'): string[] =>
  readWhole(request, body(type)).data.map(({ id }) => id);

/** The organization's members; usernames are loaded only when the request uses one. */
export const usersIn = (memberships: Membership[]): Promise<User[]> =>
  getUsers(memberships.map(({ userId }) => userId));

/** Requests name users by id or username. */
const usersNamed = async (context: Context<Team>): Promise<string[]> => {
  const { organization } = context.subject;
  const names = idsIn(context, 'users');
  const byId = new Set((await getMemberships(organization, [...new Set(names)])).map(({ userId }) => userId));
  if (names.every((name) => byId.has(name))) return names;
  const users = await usersIn((await membershipsIn(organization)).filter(({ invitation }) => !invitation));
  return names.map((name, i) => {
    if (byId.has(name)) return name;
    const user = users.find(({ username }) => username === name);
    if (user) return user.id;
    throw unprocessable(
      `/data/${i}/id`,
      `id: user ${name} not found in ${nameOf(organization)}; invite the user to the organization first`,
    );
  });
};

const usersOfMemberships = async (context: Context<Team>): Promise<string[]> => {
  const { organization } = context.subject;
  const ids = new Map((await membershipsIn(organization)).map((membership) => [membershipId(membership), membership]));
  return idsIn(context, 'organization-memberships').map((id, i) => {
    const membership = ids.get(id);
    if (membership) return membership.userId;
    throw unprocessable(`/data/${i}/id`, `id: membership ${id} not found in ${nameOf(organization)}`);
  });
};

type Named = (context: Context<Team>) => Promise<string[]>;

/** The directory would not know of other members. Removing one is possible at any time. */
const checkUnmanaged = ({ name, scim }: Team): void => {
  if (!scim) return;
  throw conflict(
    `The directory decides who is in team ${name} (SCIM group ${scim.displayName}). Add the user to the group there.`,
  );
};

const add = (named: Named) => async (context: Context<Team>) => {
  checkUnmanaged(context.subject);
  if (await enterTeam(context.subject, [...new Set(await named(context))])) return noContent();
  throw unprocessable('/data', `Team ${context.subject.name} can have at most ${maxUsers} users.`);
};

const remove = (named: Named) => async (context: Context<Team>) => {
  const { subject } = context;
  const ids = [...new Set(await named(context))];
  if (subject.owners) await checkOwnersStay(subject, ids);
  for (const id of ids) if (!(await removeFromTeam(subject, id))) throw lastOwner(subject);
  return noContent();
};

/** All users who see a team see its members; addresses need permission to read the membership. */
const withoutAddress = (document: Resource): Resource => ({
  ...document,
  attributes: { ...document.attributes, email: null },
});

const listMemberships = async ({ request, subject, principal }: Context<Team>): Promise<Answer> => {
  const page = pageOf(request);
  const statuses = (request.query.get('filter[status]') || undefined)?.split(',').map((word) => word.trim());
  const memberships = await getMemberships(subject.organization, await usersOfTeam.get(subject.id));
  const users = new Map((await usersIn(memberships)).map((user) => [user.id, user]));
  const all = memberships
    .map((membership) => ({ membership, user: users.get(membership.userId) }))
    .filter(({ membership, user }) => !statuses || statuses.includes(membershipStatus(membership, user)));
  const sort = request.query.get('sort');
  if (sort) {
    const sign = sort === 'status' ? 1 : -1;
    all.sort(
      (a, b) => sign * membershipStatus(a.membership, a.user).localeCompare(membershipStatus(b.membership, b.user)),
    );
  }
  const shown = pageSlice(all, page);
  const visible = await visibleMemberships(
    principal,
    shown.map(({ membership }) => membership),
  );
  const data = shown.map(({ membership, user }) => {
    const document = membershipDocument(membership, user, [subject.id]);
    return visible.includes(membership) ? document : withoutAddress(document);
  });
  return list(request, page, all.length, data);
};

const users = '/teams/{team}/relationships/users';
const memberships = '/teams/{team}/relationships/organization-memberships';

export const teamMemberRoutes: Route[] = [
  route('POST', users, 'team:manage-members', team, add(usersNamed)),
  route('DELETE', users, 'team:manage-members', team, remove(usersNamed)),
  route('GET', memberships, 'team:read', team, listMemberships, {
    'filter[status]': { some: ['active', 'invited', 'inactive'] },
    sort: { one: ['status', '-status'] },
  }),
  route('POST', memberships, 'team:manage-members', team, add(usersOfMemberships)),
  route('DELETE', memberships, 'team:manage-members', team, remove(usersOfMemberships)),
];
