import { listAgentPools } from '#resources/agents/pools/records.ts';
import { listOpenRuns } from '#resources/runs/lists.ts';
import { listTeamTokens, listTokens, type Token } from '#resources/users/tokens.ts';

/**
 * What a user who left leaves behind, for the audit trail: runs that have not ended, which still need a person, and
 * tokens of teams and agent pools that the user created and so has seen.
 */

const maxShown = 20;

const shown = (ids: string[]): string =>
  [...ids.slice(0, maxShown), ...(ids.length > maxShown ? [`and ${ids.length - maxShown} more`] : [])].join(', ');

const sharedTokens = async (organization: string): Promise<Token[]> => {
  const pools = await listAgentPools(organization);
  return [
    ...(await listTeamTokens(organization)),
    ...(await Promise.all(pools.map(({ id }) => listTokens(id)))).flat(),
  ];
};

/** 3 reads, 1 per agent pool, and 1 per 100 runs and tokens. */
export const left = async (organization: string, userId: string): Promise<Record<string, string>> => {
  const own = (await listOpenRuns(organization)).filter(({ createdBy }) => createdBy === userId).map(({ id }) => id);
  const seen = (await sharedTokens(organization)).filter(({ createdBy }) => createdBy === userId).map(({ id }) => id);
  return {
    ...(own.length ? { unfinished_runs: shown(own) } : {}),
    ...(seen.length ? { tokens_seen: shown(seen) } : {}),
  };
};
