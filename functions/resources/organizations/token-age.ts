import { inBatches } from '#platform/store/batches.ts';
import { boundTokens, listMembers, membershipsOf } from '#resources/users/memberships.ts';
import { noteLinked } from '#resources/users/sso-required.ts';
import { getOrganizations, type Organization } from './records.ts';

/**
 * Limits how long an organization accepts tokens of users with an identity at the issuer, counted from their last
 * sign-in: a user who can no longer sign in must not keep a working token.
 */

/** Copies the changed setting to the memberships. 2 reads and 1 write per member; can be repeated. */
export const carryTokenAge = async ({ name, ssoMaxTokenAge }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), (userId) => boundTokens({ userId, organization: name }, ssoMaxTokenAge));
};

/**
 * Called after the user signed in at an identity provider.
 * @param lastSeconds limit of the identity provider in every organization (SAML: `sso-api-token-session-timeout`)
 */
export const renewTokens = async (userId: string, lastSeconds?: number): Promise<void> => {
  const memberships = await membershipsOf(userId);
  const homes = await getOrganizations(memberships.map(({ organization }) => organization));
  for (const membership of memberships) {
    const home = homes.find(({ name }) => name === membership.organization);
    const limits = [home?.ssoMaxTokenAge, lastSeconds && lastSeconds / 60].filter(
      (minutes) => typeof minutes === 'number',
    );
    // A former sign-in elsewhere may have set a limit that does not apply any more.
    const isLimited = limits.length > 0 || membership.tokensUntil !== undefined;
    if (isLimited) await boundTokens(membership, limits.length > 0 ? Math.min(...limits) : null);
  }
  if (homes.some(({ ssoRequired }) => ssoRequired)) await noteLinked(userId);
};
