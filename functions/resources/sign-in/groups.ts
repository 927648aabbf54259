import { randomUUID } from 'node:crypto';
import { keepEvent } from '#resources/audit/records.ts';
import { mapsGroups } from '#resources/organizations/admission-rules.ts';
import { getOrganizations, type Organization } from '#resources/organizations/records.ts';
import { enterTeam, removeFromTeam } from '#resources/teams/members.ts';
import { getTeams } from '#resources/teams/records.ts';
import type { Team } from '#resources/teams/team.ts';
import {
  acceptMembership,
  addMember,
  getMembership,
  getMembershipOrInvitation,
  type Membership,
  membershipId,
  membershipsOf,
  removeMember,
} from '#resources/users/memberships.ts';
import { teamIdsOfGroups } from '#resources/users/sso-groups.ts';

const audit = (
  organization: string,
  resource: { type: 'team' | 'organization-membership'; id: string },
  userId: string,
  action: string,
): Promise<void> =>
  keepEvent({
    id: randomUUID(),
    at: new Date().toISOString(),
    organization,
    actor: userId,
    by: 'platform',
    resource,
    action,
    allowed: true,
  });

const auditTeam = ({ id, organization }: Team, userId: string, action: string): Promise<void> =>
  audit(organization, { type: 'team', id }, userId, action);

const followsGroups = (home: Organization): boolean => mapsGroups(home) && !home.hasDirectory;

/** Teams of organizations in which the operator allows groups to map to teams. 1 read per 100 organizations. */
const mapped = async (teams: Team[]): Promise<Team[]> => {
  const homes = await getOrganizations([...new Set(teams.map(({ organization }) => organization))]);
  const names = new Set(homes.filter(followsGroups).map(({ name }) => name));
  return teams.filter(({ organization }) => names.has(organization));
};

const enter = async (team: Team, userId: string): Promise<void> => {
  const { organization } = team;
  await addMember(organization, userId, 'member', { byGroup: true });
  // The issuer is authoritative, so an invitation is accepted automatically.
  const membership = await getMembershipOrInvitation(userId, organization);
  if (membership?.invitation) await acceptMembership(membership);
  await enterTeam(team, [userId]);
};

/** Ends the membership of a user without a mapped group; the last owner stays. */
const endMembership = async ({ userId, organization }: Membership): Promise<void> => {
  const membership = await getMembership(userId, organization);
  const [home] = await getOrganizations([organization]);
  if (!membership || !home || !followsGroups(home)) return;
  const teams = await getTeams([...(membership.teams ?? [])]);
  for (const team of teams.sort((a) => (a.owners ? -1 : 1))) {
    if (!(await removeFromTeam(team, userId))) return;
  }
  await audit(organization, { type: 'organization-membership', id: membershipId(membership) }, userId, 'end_by_group');
  await removeMember(membership);
};

/**
 * Synchronizes the user's teams with their groups at the issuer, which decides membership of mapped teams. A
 * membership created by a group ends with the user's last mapped team. The last owner and the break-glass owner of an
 * organization stay. In an organization with a directory, that alone decides (resources/scim/).
 */
export const followGroups = async (userId: string, names: string[]): Promise<void> => {
  const groups = [...new Set(names)];
  const isTheirs = ({ ssoTeamId }: Team): boolean => ssoTeamId !== null && groups.includes(ssoTeamId);
  const memberships = await membershipsOf(userId);
  const current = await mapped(await getTeams(memberships.flatMap(({ teams = [] }) => [...teams])));
  const theirs = await mapped((await getTeams(await teamIdsOfGroups(groups))).filter(isTheirs));
  for (const team of theirs) {
    if (current.some(({ id }) => id === team.id)) continue;
    await auditTeam(team, userId, 'join_by_group');
    await enter(team, userId);
  }
  for (const team of current) {
    if (team.ssoTeamId === null || isTheirs(team)) continue;
    if (team.owners && memberships.some((own) => own.organization === team.organization && own.breakGlass)) continue;
    if (await removeFromTeam(team, userId)) await auditTeam(team, userId, 'leave_by_group');
  }
  const homes = new Set(theirs.map(({ organization }) => organization));
  for (const membership of memberships) {
    if (membership.byGroup && !homes.has(membership.organization)) await endMembership(membership);
  }
};
