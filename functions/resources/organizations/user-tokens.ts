import { inBatches } from '#platform/store/batches.ts';
import { applyRules, listMembers } from '#resources/users/memberships.ts';
import type { Organization } from './records.ts';

/**
 * Copies to the memberships whether the organization accepts user tokens, so that authorization takes one read. 1
 * write per member after a change; can be repeated.
 */
export const carryUserTokens = async ({ name, userTokensEnabled }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), (userId) =>
    applyRules({ userId, organization: name }, { withoutUserTokens: userTokensEnabled ? undefined : true }),
  );
};
