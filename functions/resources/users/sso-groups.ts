import { hashSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, update, updateExisting } from '#platform/store/table.ts';
import type { Team } from '#resources/teams/team.ts';

/**
 * Index of the teams whose `sso-team-id` names a group at the issuer. It may contain teams that have changed their
 * group; the team's own attribute is authoritative.
 */

interface Item extends Key {
  teamIds?: Set<string>;
}

const keyOf = (group: string): Key => keys.ssoGroup(hashSecret(group));

/** Call before changing the team's group, so that the index never misses a team. Can be repeated. */
export const indexGroup = async ({ id }: Pick<Team, 'id'>, group: string | null): Promise<void> => {
  if (group !== null) await update(keyOf(group), { add: { teamIds: new Set([id]) } });
};

/** Call after changing the team's group. */
export const forgetGroup = async ({ id }: Pick<Team, 'id'>, group: string | null): Promise<void> => {
  if (group !== null) await updateExisting(keyOf(group), { delete: { teamIds: new Set([id]) } });
};

/** Ids of teams that may map one of the groups. 1 read per 100 groups. */
export const teamIdsOfGroups = async (groups: string[]): Promise<string[]> => {
  const items = await batchGet<Item>(groups.map(keyOf));
  return [...new Set(items.flatMap(({ teamIds = [] }) => [...teamIds]))];
};
