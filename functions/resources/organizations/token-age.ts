import { inBatches } from '#platform/store/batches.ts';
import { boundTokens, listMembers } from '#resources/users/memberships.ts';
import { listOrganizations, type Organization } from './records.ts';

/**
 * Limits how long an organization accepts tokens of users with an identity at the issuer, counted from their last
 * sign-in: a user who can no longer sign in must not keep a working token.
 */

/** Parallel writes: an organization may have thousands of members. */
const atOnce = 20;

/** Copies the changed setting to the memberships. 2 reads and 1 write per member; can be repeated. */
export const carryTokenAge = async ({ name, ssoMaxTokenAge = null }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), atOnce, (userId) =>
    boundTokens({ userId, organization: name }, ssoMaxTokenAge),
  );
};

/** Called after the user signed in at the issuer. */
export const renewTokens = async (userId: string): Promise<void> => {
  for (const { name, ssoMaxTokenAge } of await listOrganizations(userId)) {
    if (ssoMaxTokenAge) await boundTokens({ userId, organization: name }, ssoMaxTokenAge);
  }
};
