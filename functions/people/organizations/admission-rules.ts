import { environment } from '../../environment.ts';
import { membershipsOf, roleOf } from '../accounts/memberships.ts';
import type { Organization } from './records.ts';

/** What the operator says of who comes in how (infra/organizations.ts): whoever may sign in is not yet to be trusted. */

/** 1 read, only where it matters who asks. */
export const mayCreateOrganizations = async (userId: string): Promise<boolean> => {
  const { creators } = environment.organizationRules;
  if (creators !== 'owners') return creators === 'anyone';
  return (await membershipsOf(userId)).some((membership) => roleOf(membership) === 'owner');
};

/** Whether groups at the issuer may stand for the organization's teams: who is in one is told to its members. */
export const mapsGroups = ({ name, isOperators = false }: Pick<Organization, 'name' | 'isOperators'>): boolean =>
  environment.organizationRules.groups?.includes(name) ?? isOperators;
