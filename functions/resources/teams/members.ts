import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, remove, update, updateExisting } from '#platform/store/table.ts';
import { joinTeam, leaveTeam } from '#resources/users/memberships.ts';

/**
 * Members of teams. Memberships are authoritative (memberships.ts). One item beside each team lists the ids of its
 * users, so that lists take one read and one condition protects the last owner.
 */

interface TeamOf {
  id: string;
  organization: string;
  owners?: boolean;
}

interface Users {
  userIds?: Set<string>;
}

/** Maximum number of users in a team, whose ids are in one item. */
export const maxUsers = 5000;

const ids = (users: Users | undefined): string[] => [...(users?.userIds ?? [])].sort();

export const usersOfTeam = {
  get: async (teamId: string): Promise<string[]> => ids(await get<Users>(keys.teamUsers(teamId))),

  /** In the order of the teams. 1 read per 100 teams. */
  ofEach: async (teamIds: string[]): Promise<string[][]> => {
    const items = await batchGet<Users & Key>(teamIds.map(keys.teamUsers));
    const byKey = new Map(items.map((item) => [item.pk, ids(item)]));
    return teamIds.map((id) => byKey.get(keys.teamUsers(id).pk) ?? []);
  },

  /** False when the team would exceed the limit. */
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

/** False when the team would exceed the limit. Skips users without a membership in the organization. */
export const enterTeam = async (team: TeamOf, userIds: string[]): Promise<boolean> => {
  if (userIds.length === 0) return true;
  if (!(await usersOfTeam.add(team.id, userIds))) return false;
  const strangers: string[] = [];
  for (const userId of userIds) if (!(await joinTeam(team, userId))) strangers.push(userId);
  if (strangers.length) await update(keys.teamUsers(team.id), { delete: { userIds: new Set(strangers) } });
  return true;
};

/** Takes effect at once. False for the last owner, who is not removed. */
export const removeFromTeam = async (team: TeamOf, userId: string): Promise<boolean> => {
  const key = keys.teamUsers(team.id);
  const change = { delete: { userIds: new Set([userId]) } };
  if (!team.owners) {
    await leaveTeam(team, userId);
    await updateExisting(key, change);
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

export const removeAllMembers = async (team: TeamOf): Promise<void> => {
  for (const userId of await usersOfTeam.get(team.id)) await leaveTeam(team, userId);
  await remove(keys.teamUsers(team.id));
};
