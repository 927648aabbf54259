import type { Principal } from '#api/permissions/principal.ts';
import { environment } from '#platform/environment.ts';
import { now } from '#platform/store/time.ts';
import { membershipsOf, roleOf } from '#resources/users/memberships.ts';
import { getUser } from '#resources/users/users.ts';
import { getOrganizations, type Organization } from './records.ts';

/** The operator's admission rules (infra/stack/organizations.ts): being able to sign in grants nothing. */

/** 1 read, only when the rule depends on the user. */
export const mayCreateOrganizations = async (userId: string): Promise<boolean> => {
  const { creators } = environment.organizationRules;
  if (creators !== 'owners') return creators === 'anyone';
  return (await membershipsOf(userId)).some((membership) => roleOf(membership) === 'owner');
};

/** Organizations created by the operator that the caller owns, and that accept the token. 2 reads, and 1 for each. */
const operatorsOrganizationsOf = async ({ userId, standing }: Principal): Promise<Organization[]> => {
  const owned = (await membershipsOf(userId)).filter((membership) => roleOf(membership) === 'owner');
  const homes = await getOrganizations(owned.map(({ organization }) => organization));
  const own = homes.filter(({ isOperators }) => isOperators);
  const standings = await Promise.all(own.map(({ name }) => standing(name)));
  return own.filter((_, i) => standings[i]?.role === 'owner');
};

/** By SAML; 1 read, only where the operator allows it. */
const isSiteAdmin = async (userId: string): Promise<boolean> =>
  environment.organizationRules.samlAdministrators !== undefined &&
  ((await getUser(userId))?.siteAdminUntil ?? '') > now();

/**
 * Whether the token belongs to an owner of an organization created by the operator, or to a site administrator; only
 * user tokens count. 2 or 3 reads, and 1 for each such organization.
 */
export const isOperator = async (principal: Principal): Promise<boolean> =>
  principal.kind === 'user' &&
  ((await operatorsOrganizationsOf(principal)).length > 0 || isSiteAdmin(principal.userId));

/**
 * Whether the token belongs to an owner of the one organization that the operator named for it, or to a site
 * administrator: with these settings they can sign in as anyone. As many reads.
 */
export const administersSaml = async (principal: Principal): Promise<boolean> => {
  const { samlAdministrators: named } = environment.organizationRules;
  if (principal.kind !== 'user' || named === undefined) return false;
  const owned = await operatorsOrganizationsOf(principal);
  return owned.some(({ name, shownName }) => named === name || named === shownName) || isSiteAdmin(principal.userId);
};

/** Whether groups at the issuer may map to the organization's teams, whose members see each other. */
export const mapsGroups = ({
  name,
  shownName = name,
  isOperators = false,
}: Pick<Organization, 'name' | 'shownName' | 'isOperators'>): boolean =>
  // No other organization ever has its first name.
  environment.organizationRules.groups?.some((group) => group === name || group === shownName) ?? isOperators;
