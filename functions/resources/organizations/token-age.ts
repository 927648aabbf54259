import { inBatches } from '#platform/store/batches.ts';
import { boundTokens, listMembers } from '#resources/users/memberships.ts';
import { listOrganizations, type Organization } from './records.ts';

/**
 * How long an organization accepts tokens of users who have an identity at the issuer, counted from their last sign-in
 * there: who may no longer sign in keeps no token that works for ever.
 */

/** Parallel writes: an organization may have thousands of members. */
const atOnce = 20;

/** Noted with the memberships, when the setting changes. 2 reads and 1 write for each member; may be repeated. */
export const carryTokenAge = async ({ name, ssoMaxTokenAge = null }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), atOnce, (userId) =>
    boundTokens({ userId, organization: name }, ssoMaxTokenAge),
  );
};

/** The user signed in at the issuer. */
export const renewTokens = async (userId: string): Promise<void> => {
  for (const { name, ssoMaxTokenAge } of await listOrganizations(userId)) {
    if (ssoMaxTokenAge) await boundTokens({ userId, organization: name }, ssoMaxTokenAge);
  }
};
