import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { update } from '#platform/store/table.ts';
import { listAgentPoolIds } from '#resources/agents/pools/records.ts';
import { callersIn } from '#resources/organizations/callers.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { applyRules, forgetIpAllowlists } from '#resources/users/memberships.ts';
import { forgetIpAllowlistsOfTokens, noteIpAllowlistsOfTokens } from '#resources/users/tokens.ts';

/**
 * Flags that an organization has IP allowlists, on records that every request reads anyway: memberships of users and
 * of accounts behind team and organization tokens, and tokens of its agent pools. Organizations without allowlists
 * need no read. Flags are set before the write that enforces a list, so that it takes effect at once. They carry that
 * write's version, so that removing old flags keeps those of a later write. A superfluous flag costs one read per
 * request.
 */

type Home = Pick<Organization, 'name' | 'externalId'>;

/** 1 write per member, team and agent pool token; can be repeated. */
export const noteEverywhere = async (home: Home, version: number): Promise<void> => {
  const { name: organization } = home;
  // The organization first: tokens and members created meanwhile read it.
  await updateRecord(keys.organization(organization), { set: { ipAllowlists: version } });
  await inBatches(await callersIn(home), (userId) => applyRules({ userId, organization }, { ipAllowlists: version }));
  await inBatches(await listAgentPoolIds(organization), (id) => noteIpAllowlistsOfTokens(id, version));
};

/** Removes the flags that {@link noteEverywhere} set, except those of a later version. */
export const forgetEverywhere = async (home: Home, version: number): Promise<void> => {
  const { name: organization } = home;
  await update(keys.organization(organization), {
    remove: ['ipAllowlists'],
    condition: 'ipAllowlists <= :version',
    values: { ':version': version },
  });
  await inBatches(await callersIn(home), (userId) => forgetIpAllowlists({ userId, organization }, version));
  await inBatches(await listAgentPoolIds(organization), (id) => forgetIpAllowlistsOfTokens(id, version));
};
