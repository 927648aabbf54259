import { listOrganizations } from '#resources/organizations/records.ts';
import { issueSession } from '#resources/users/tokens.ts';

/** The page's session: a token that expires or ends at sign-out. */

/** A working day, where no organization says otherwise. */
const standardMinutes = 12 * 60;

/**
 * When a session that begins now ends: after the shortest `session-timeout` or `session-remember` of the organizations
 * that the user belongs to, because one session is good for all of them.
 */
const sessionEnd = async (userId: string): Promise<string> => {
  const organizations = await listOrganizations(userId);
  const limits = organizations.flatMap(({ sessionTimeout, sessionRemember }) => [sessionTimeout, sessionRemember]);
  const minutes = Math.min(standardMinutes, ...limits.filter((limit) => limit !== null));
  return new Date(Date.now() + minutes * 60_000).toISOString();
};

/**
 * @param identity hash of what it began with, and ends with (resources/users/identities.ts)
 * @returns the token's text, and when it ends
 */
export const beginSession = async (
  userId: string,
  identity?: string,
): Promise<{ secret: string; expiresAt: string }> => {
  const expiresAt = await sessionEnd(userId);
  return { secret: await issueSession(userId, expiresAt, identity), expiresAt };
};
