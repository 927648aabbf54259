import type { Principal } from '#api/permissions/principal.ts';
import { environment } from '#platform/environment.ts';
import { membershipsOf, roleOf } from '#resources/users/memberships.ts';
import { getOrganizations, type Organization } from './records.ts';

/** The operator's admission rules (infra/stack/organizations.ts): being able to sign in grants nothing. */

/** 1 read, only when the rule depends on the user. */
export const mayCreateOrganizations = async (userId: string): Promise<boolean> => {
  const { creators } = environment.organizationRules;
  if (creators !== 'owners') return creators === 'anyone';
  return (await membershipsOf(userId)).some((membership) => roleOf(membership) === 'owner');
};

/**
 * Whether the token belongs to an owner of an organization created by the operator; only user tokens count. 2 reads.
 */
export const isOperator = async ({ kind, userId }: Principal): Promise<boolean> => {
  if (kind !== 'user') return false;
  const owned = (await membershipsOf(userId)).filter((membership) => roleOf(membership) === 'owner');
  return (await getOrganizations(owned.map(({ organization }) => organization))).some(({ isOperators }) => isOperators);
};

/** Whether groups at the issuer may map to the organization's teams, whose members see each other. */
export const mapsGroups = ({ name, isOperators = false }: Pick<Organization, 'name' | 'isOperators'>): boolean =>
  environment.organizationRules.groups?.includes(name) ?? isOperators;
