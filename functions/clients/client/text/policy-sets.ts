import { type Resource, related } from '../client.ts';

/** Why the newest version of the policy set was rejected. @param included has the version */
export const rejectionOf = (set: Resource<'policy-sets'>, included: Resource[]): string | undefined =>
  included.find(({ id }) => id === related(set, 'newest-version'))?.attributes['error-message'] ?? undefined;
