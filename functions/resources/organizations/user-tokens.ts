import { inBatches } from '#platform/store/batches.ts';
import { listMembers, setUserTokens } from '#resources/users/memberships.ts';
import type { Organization } from './records.ts';

/** Parallel writes: an organization may have thousands of members. */
const atOnce = 20;

/**
 * Whether tokens of users are good in the organization, as their memberships have it: whoever asks who somebody is finds it
 * there. 1 write for each member, when it is changed; may be repeated.
 */
export const carryUserTokens = async ({ name, userTokensEnabled = true }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), atOnce, (userId) =>
    setUserTokens({ userId, organization: name }, userTokensEnabled),
  );
};
