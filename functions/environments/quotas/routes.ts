import * as v from 'valibot';
import { nameOf } from '#api/naming.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { usersOfTeam } from '#resources/teams/members.ts';
import { listTeams } from '#resources/teams/records.ts';
import type { Team } from '#resources/teams/team.ts';
import { getUsers } from '#resources/users/users.ts';
import { isOwner } from '../access.ts';
import { ok } from '../host/answers.ts';
import { readBody } from '../host/body.ts';
import { forbidden, notFound } from '../host/errors.ts';
import { audited, type Call, type Route, refused, route } from '../host/route.ts';
import { uuidIn, uuidOf } from '../host/uuid.ts';
import { findOrganization, findPerson, minimalUser, organizationsOf } from '../people/users.ts';
import { budgetOf, spending } from './check.ts';
import { getQuotas, setQuota } from './records.ts';

/** Quotas of teams, which Coder's API calls groups, and of users. */

const none = -1;

const allowance = v.pipe(
  v.number('Validation failed: it must be a number'),
  v.integer('Validation failed: it must be a whole number'),
  v.minValue(none, 'Validation failed: it must be 0 or more, or -1 for none'),
  v.maxValue(1e9, 'Validation failed: it must be at most 1000000000'),
);

const quotaOf = (value: number): number | undefined => (value === none ? undefined : value);

/** Only owners may see all teams' members and set quotas. @throws {CoderError} 404 */
const owned = async (call: Call): Promise<Organization> => {
  const organization = await findOrganization(call, call.request.params.organization ?? '');
  if (!organization || !(await isOwner(call.principal, organization.name))) throw notFound();
  return organization;
};

const groupDocument = async ({ id, name, organization }: Team, quota: number | undefined) => {
  const members = await getUsers(await usersOfTeam.get(id));
  return {
    id: uuidOf(id),
    name,
    display_name: name,
    organization_id: uuidOf(organization),
    organization_name: nameOf(organization),
    organization_display_name: nameOf(organization),
    members: members.map((user) => minimalUser(user.id, user.username)),
    total_member_count: members.length,
    avatar_url: '',
    // Coder's groups always have an allowance: -1 stands for none.
    quota_allowance: quota ?? none,
    source: 'user',
  };
};

const list = async (call: Call) => {
  const { name } = await owned(call);
  const [teams, quotas] = await Promise.all([listTeams(name), getQuotas(name)]);
  const groups = [];
  for (const team of teams) groups.push(await groupDocument(team, quotas.teams[team.id]));
  return ok(groups);
};

const byName = async (call: Call) => {
  const { name } = await owned(call);
  const group = foldCase(call.request.params.group ?? '');
  const team = (await listTeams(name)).find((candidate) => foldCase(candidate.name) === group);
  if (!team) throw notFound();
  return ok(await groupDocument(team, (await getQuotas(name)).teams[team.id]));
};

/** A team of an organization that the caller owns. @throws {CoderError} 404 */
const teamById = async (call: Call): Promise<Team> => {
  const id = uuidIn(call.request.params.group ?? '');
  for (const { name } of await organizationsOf(call.principal)) {
    if (!(await isOwner(call.principal, name))) continue;
    const team = (await listTeams(name)).find((candidate) => uuidOf(candidate.id) === id);
    if (team) return team;
  }
  throw notFound();
};

const notHere = (name: string) =>
  v.optional(v.undefined(`Validation failed: ${name} of a group cannot be changed here: change the team instead`));

const groupChange = v.object({
  quota_allowance: v.optional(allowance),
  name: notHere('name'),
  display_name: notHere('display_name'),
  avatar_url: notHere('avatar_url'),
  add_users: notHere('members'),
  remove_users: notHere('members'),
});

const change = async (call: Call) => {
  const team = await teamById(call);
  const { quota_allowance: quota } = readBody(call.request, groupChange);
  return audited(
    call,
    team.organization,
    { type: 'group', action: 'update', id: team.id, name: team.name },
    async () => {
      if (quota !== undefined) await setQuota(team.organization, 'teams', team.id, quotaOf(quota));
      return ok(await groupDocument(team, (await getQuotas(team.organization)).teams[team.id]));
    },
  );
};

const personIn = async (call: Call) => {
  const organization = await findOrganization(call, call.request.params.organization ?? '');
  const person = await findPerson(call, call.request.params.user ?? '');
  if (!organization || !person) throw notFound();
  return { organization: organization.name, person };
};

const quotaDocument = async (organization: string, userId: string) => ({
  credits_consumed: await spending(organization, userId),
  budget: (await budgetOf(organization, userId)) ?? none,
});

const read = async (call: Call) => {
  const { organization, person } = await personIn(call);
  if (person.id !== call.principal.userId && !(await isOwner(call.principal, organization))) throw notFound();
  return ok(await quotaDocument(organization, person.id));
};

const changePersons = async (call: Call) => {
  const { organization, person } = await personIn(call);
  const auditAction = { type: 'workspace_quota', action: 'update', id: person.id, name: person.username };
  if (!(await isOwner(call.principal, organization))) throw await refused(call, organization, auditAction, forbidden());
  const { budget } = readBody(call.request, v.object({ budget: allowance }));
  return audited(call, organization, auditAction, async () => {
    await setQuota(organization, 'users', person.id, quotaOf(budget));
    return ok(await quotaDocument(organization, person.id));
  });
};

const ofMember = '/organizations/{organization}/members/{user}/workspace-quota';

export const quotaRoutes: Route[] = [
  route('GET', '/organizations/{organization}/groups', list),
  route('GET', '/organizations/{organization}/groups/{group}', byName),
  route('GET', '/groups/{group}', async (call) => {
    const team = await teamById(call);
    return ok(await groupDocument(team, (await getQuotas(team.organization)).teams[team.id]));
  }),
  route('PATCH', '/groups/{group}', change),
  route('GET', ofMember, read),
  route('PUT', ofMember, changePersons),
];
