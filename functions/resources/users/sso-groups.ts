import { hashSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, update } from '#platform/store/table.ts';
import type { Team } from '#resources/teams/team.ts';

/**
 * Which teams a group at the issuer stands for: those whose `sso-team-id` is its name. This is an index, and may name teams
 * that have another one by now; the teams themselves are what counts.
 */

interface Item extends Key {
  teamIds?: Set<string>;
}

const keyOf = (group: string): Key => keys.ssoGroup(hashSecret(group));

/** To be told before a team says otherwise, so that the index never misses one. May be repeated. */
export const indexGroup = async ({ id }: Pick<Team, 'id'>, group: string | null): Promise<void> => {
  if (group !== null) await update(keyOf(group), { add: { teamIds: new Set([id]) } });
};

/** To be told afterwards. */
export const forgetGroup = async ({ id }: Pick<Team, 'id'>, group: string | null): Promise<void> => {
  if (group !== null)
    await update(keyOf(group), { delete: { teamIds: new Set([id]) }, condition: 'attribute_exists(pk)' });
};

/** Ids of teams that may have one of the names. 1 read for 100. */
export const teamIdsOfGroups = async (groups: string[]): Promise<string[]> => {
  const items = await batchGet<Item>(groups.map(keyOf));
  return [...new Set(items.flatMap(({ teamIds = [] }) => [...teamIds]))];
};
