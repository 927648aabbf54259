import { listMembers, setUserTokens } from '../accounts/memberships.ts';
import type { Organization } from './records.ts';

/** A few side by side: an organization may have thousands of members. */
const atOnce = 20;

/**
 * Whether tokens of users are good in the organization, as their memberships have it: whoever asks who somebody is finds it
 * there. 1 write for each member, when it is changed; may be repeated.
 */
export const carryUserTokens = async ({ name, userTokensEnabled = true }: Organization): Promise<void> => {
  const userIds = await listMembers(name);
  for (let i = 0; i < userIds.length; i += atOnce) {
    const some = userIds.slice(i, i + atOnce);
    await Promise.all(some.map((userId) => setUserTokens({ userId, organization: name }, userTokensEnabled)));
  }
};
