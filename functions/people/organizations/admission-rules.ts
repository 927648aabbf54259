import { environment } from '../../environment.ts';
import { membershipsOf, roleOf } from '../accounts/memberships.ts';
import type { Organization } from './records.ts';

/** The operator's admission rules (infra/organizations.ts): a user who can sign in is not trusted yet. */

/** 1 read, only where it matters who asks. */
export const mayCreateOrganizations = async (userId: string): Promise<boolean> => {
  const { creators } = environment.organizationRules;
  if (creators !== 'owners') return creators === 'anyone';
  return (await membershipsOf(userId)).some((membership) => roleOf(membership) === 'owner');
};

/** Whether groups at the issuer may map to the organization's teams, whose members see each other. */
export const mapsGroups = ({ name, isOperators = false }: Pick<Organization, 'name' | 'isOperators'>): boolean =>
  environment.organizationRules.groups?.includes(name) ?? isOperators;
