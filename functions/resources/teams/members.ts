import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, remove, update } from '#platform/store/table.ts';
import { joinTeam, leaveTeam } from '#resources/users/memberships.ts';

/**
 * Who is in which team. Memberships decide (memberships.ts); beside each team is one item with the ids of its users, for
 * lists, and so that the last owner stays by one condition on one item.
 */

interface TeamOf {
  id: string;
  organization: string;
  owners?: boolean;
}

interface Users {
  userIds?: Set<string>;
}

/** Most that a team has: one item holds their ids. */
export const maxUsers = 5000;

const ids = (users: Users | undefined): string[] => [...(users?.userIds ?? [])].sort();

export const usersOfTeam = {
  get: async (teamId: string): Promise<string[]> => ids(await get<Users>(keys.teamUsers(teamId))),

  /** In the order of the teams. 1 read for 100. */
  ofEach: async (teamIds: string[]): Promise<string[][]> => {
    const items = await batchGet<Users & Key>(teamIds.map(keys.teamUsers));
    const byKey = new Map(items.map((item) => [item.pk, ids(item)]));
    return teamIds.map((id) => byKey.get(keys.teamUsers(id).pk) ?? []);
  },

  /** False when it would be too many. */
  add: async (teamId: string, userIds: string[]): Promise<boolean> => {
    const key = keys.teamUsers(teamId);
    const added = await update(key, {
      add: { userIds: new Set(userIds) },
      condition: 'attribute_not_exists(userIds) OR size(userIds) <= :room',
      values: { ':room': maxUsers - userIds.length },
    });
    return added !== undefined;
  },
};

/** False when it would be too many. Those who are no members of the organization stay out. */
export const enterTeam = async (team: TeamOf, userIds: string[]): Promise<boolean> => {
  if (userIds.length === 0) return true;
  if (!(await usersOfTeam.add(team.id, userIds))) return false;
  const strangers: string[] = [];
  for (const userId of userIds) if (!(await joinTeam(team, userId))) strangers.push(userId);
  if (strangers.length) await update(keys.teamUsers(team.id), { delete: { userIds: new Set(strangers) } });
  return true;
};

/** Effective at once. False for the last owner, who stays. */
export const removeFromTeam = async (team: TeamOf, userId: string): Promise<boolean> => {
  const key = keys.teamUsers(team.id);
  const change = { delete: { userIds: new Set([userId]) } };
  if (!team.owners) {
    await leaveTeam(team, userId);
    await update(key, { ...change, condition: 'attribute_exists(pk)' });
    return true;
  }
  const left = await update(key, {
    ...change,
    condition: 'NOT contains(userIds, :user) OR size(userIds) > :one',
    values: { ':user': userId, ':one': 1 },
  });
  if (left) await leaveTeam(team, userId);
  return left !== undefined;
};

/** Of a team that is gone. */
export const removeAllMembers = async (team: TeamOf): Promise<void> => {
  for (const userId of await usersOfTeam.get(team.id)) await leaveTeam(team, userId);
  await remove(keys.teamUsers(team.id));
};
