import { randomUUID } from 'node:crypto';
import { keepEvent } from '../audit/records.ts';
import {
  acceptMembership,
  addMember,
  getMembershipOrInvitation,
  membershipsOf,
} from '../people/accounts/memberships.ts';
import { teamIdsOfGroups } from '../people/accounts/sso-groups.ts';
import { mapsGroups } from '../people/organizations/admission-rules.ts';
import { getOrganizations } from '../people/organizations/records.ts';
import { enterTeam, removeFromTeam } from '../people/teams/members.ts';
import { getTeams } from '../people/teams/records.ts';
import type { Team } from '../people/teams/team.ts';

const audit = ({ id, organization }: Team, userId: string, action: string): Promise<void> =>
  keepEvent({
    id: randomUUID(),
    at: new Date().toISOString(),
    organization,
    actor: userId,
    by: 'platform',
    resource: { type: 'team', id },
    action,
    allowed: true,
  });

/** Those of organizations in which the operator lets groups stand for teams. 1 read for 100 organizations. */
const mapped = async (teams: Team[]): Promise<Team[]> => {
  const homes = await getOrganizations([...new Set(teams.map(({ organization }) => organization))]);
  const names = new Set(homes.filter(mapsGroups).map(({ name }) => name));
  return teams.filter(({ organization }) => names.has(organization));
};

const enter = async (team: Team, userId: string): Promise<void> => {
  const { organization } = team;
  await addMember(organization, userId);
  // The operator's issuer says that they are in: there is nothing left to accept.
  const membership = await getMembershipOrInvitation(userId, organization);
  if (membership?.invitation) await acceptMembership(membership);
  await enterTeam(team, [userId]);
};

/**
 * Makes somebody a member of the teams that their groups at the issuer stand for, and of no others that a group stands
 * for: the issuer decides who is in such a team. Who is the last owner of an organization stays one.
 */
export const followGroups = async (userId: string, names: string[]): Promise<void> => {
  const groups = [...new Set(names)];
  const isTheirs = ({ ssoTeamId }: Team): boolean => ssoTeamId !== null && groups.includes(ssoTeamId);
  const memberships = await membershipsOf(userId);
  const current = await mapped(await getTeams(memberships.flatMap(({ teams = [] }) => [...teams])));
  const theirs = await mapped((await getTeams(await teamIdsOfGroups(groups))).filter(isTheirs));
  for (const team of theirs) {
    if (current.some(({ id }) => id === team.id)) continue;
    await audit(team, userId, 'join_by_group');
    await enter(team, userId);
  }
  for (const team of current) {
    if (team.ssoTeamId === null || isTheirs(team)) continue;
    if (await removeFromTeam(team, userId)) await audit(team, userId, 'leave_by_group');
  }
};
