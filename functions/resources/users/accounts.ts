import type { Role } from '#api/permissions/granted.ts';
import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { remove, update } from '#platform/store/table.ts';
import type { Organization } from '#resources/organizations/records.ts';
import type { Team } from '#resources/teams/team.ts';
import { endIfDeleted, type Membership } from './memberships.ts';
import { deleteTokensOf } from './tokens.ts';
import { ensureUser } from './users.ts';

/**
 * Tokens of teams, organizations, audit trails and directories act as an account, not as a person. The account of a
 * team or organization has a membership, but is in no list of members. The other two have no membership and so no other
 * permission.
 */

type Home = Pick<Organization, 'name' | 'externalId'>;

export const accountOfTeam = (teamId: string): string => derivedId('user', `team ${teamId}`);
export const accountOfOrganization = ({ externalId }: Home): string => derivedId('user', `organization ${externalId}`);
export const accountOfAuditTrail = ({ externalId }: Home): string => derivedId('user', `audit trail ${externalId}`);
export const accountOfScim = ({ externalId }: Home): string => derivedId('user', `scim ${externalId}`);

/** The last part of an id, for names. */
const short = (id: string): string => id.slice(id.indexOf('-') + 1);

const join = async (organization: string, userId: string, role: Role, teams?: Set<string>): Promise<void> => {
  const membership: Membership = { userId, organization, roles: [role], createdAt: new Date().toISOString(), teams };
  // Keeps the organization's restrictions on the membership, so that no call passes without them.
  await update(keys.membership(userId, organization), { set: { ...membership } });
  await endIfDeleted(membership);
};

/** Can be repeated. @returns its id */
export const ensureTeamAccount = async (team: Team): Promise<string> => {
  const id = accountOfTeam(team.id);
  const service = { organization: team.organization, teamId: team.id };
  await ensureUser(id, { username: `api-team-${short(team.id)}`, email: '', service });
  await join(team.organization, id, team.owners ? 'owner' : 'member', new Set([team.id]));
  return id;
};

/** Can be repeated. @returns its id */
export const ensureOrganizationAccount = async (home: Home): Promise<string> => {
  const id = accountOfOrganization(home);
  const service = { organization: home.name };
  await ensureUser(id, { username: `api-org-${home.name}`, email: '', service });
  await join(home.name, id, 'organization');
  return id;
};

/** Can be repeated. @returns its id */
export const ensureAuditTrailAccount = async (home: Home): Promise<string> => {
  const id = accountOfAuditTrail(home);
  const service = { organization: home.name };
  await ensureUser(id, { username: `audit-trail-${home.name}`, email: '', service });
  return id;
};

/** Can be repeated. @returns its id */
export const ensureScimAccount = async (home: Home): Promise<string> => {
  const id = accountOfScim(home);
  const service = { organization: home.name };
  await ensureUser(id, { username: `scim-${home.name}`, email: '', service });
  return id;
};

const close = async (userId: string, organization: string): Promise<void> => {
  await remove(keys.membership(userId, organization));
  await deleteTokensOf(userId);
};

/** Its tokens stop working at once. Can be repeated. */
export const closeTeamAccount = ({ id, organization }: Pick<Team, 'id' | 'organization'>): Promise<void> =>
  close(accountOfTeam(id), organization);

/** Their tokens stop working at once. Can be repeated. */
export const closeOrganizationAccounts = async (home: Home): Promise<void> => {
  await close(accountOfOrganization(home), home.name);
  await close(accountOfAuditTrail(home), home.name);
  await close(accountOfScim(home), home.name);
};
