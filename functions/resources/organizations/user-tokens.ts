import { inBatches } from '#platform/store/batches.ts';
import { listMembers, setUserTokens } from '#resources/users/memberships.ts';
import type { Organization } from './records.ts';

/** Parallel writes: an organization may have thousands of members. */
const atOnce = 20;

/**
 * Copies to the memberships whether the organization accepts user tokens, so that authorization takes one read. 1
 * write per member after a change; can be repeated.
 */
export const carryUserTokens = async ({ name, userTokensEnabled }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), atOnce, (userId) =>
    setUserTokens({ userId, organization: name }, userTokensEnabled),
  );
};
