import { listOrganizations } from '#resources/organizations/records.ts';
import { issueSession } from '#resources/users/tokens.ts';

/** The page's session: a token that expires or ends at sign-out. */

/** One working day, unless an organization sets a limit. */
const standardMinutes = 12 * 60;

/**
 * Expiry of a new session: the shortest `session-timeout` or `session-remember` of the user's organizations, because
 * one session is valid for all of them.
 */
const sessionEnd = async (userId: string, latest: string | undefined): Promise<string> => {
  const organizations = await listOrganizations(userId);
  const limits = organizations.flatMap(({ sessionTimeout, sessionRemember }) => [sessionTimeout, sessionRemember]);
  const minutes = Math.min(standardMinutes, ...limits.filter((limit) => limit !== null));
  const end = new Date(Date.now() + minutes * 60_000).toISOString();
  return latest !== undefined && latest < end ? latest : end;
};

/**
 * @param identity hash of the identity that starts the session, and ends it (resources/users/identities.ts)
 * @param latest the issuer's end of it
 * @returns the token and its expiry
 */
export const beginSession = async (
  userId: string,
  identity?: string,
  latest?: string,
): Promise<{ secret: string; expiresAt: string }> => {
  const expiresAt = await sessionEnd(userId, latest);
  return { secret: await issueSession(userId, expiresAt, identity), expiresAt };
};
