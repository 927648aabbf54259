import { listTeamNames } from '#resources/teams/records.ts';
import { accountOfOrganization, accountOfTeam } from '#resources/users/accounts.ts';
import { listMembers } from '#resources/users/memberships.ts';
import type { Organization } from './records.ts';

/** Users with a membership: members, and the accounts behind tokens of teams and of the organization. */
export const callersIn = async (home: Pick<Organization, 'name' | 'externalId'>): Promise<string[]> => {
  const [members, teams] = await Promise.all([listMembers(home.name), listTeamNames(home.name)]);
  return [...members, ...teams.map(({ id }) => accountOfTeam(id)), accountOfOrganization(home)];
};
