import { inBatches } from '#platform/store/batches.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, update, updateExisting } from '#platform/store/table.ts';
import { enterTeam, maxUsers, removeFromTeam, usersOfTeam } from '#resources/teams/members.ts';
import { getMemberships } from '#resources/users/memberships.ts';
import type { ScimCall } from '../call.ts';
import { auditTeam } from '../events.ts';
import { invalidValue, ScimError } from '../protocol/errors.ts';
import { isActive } from '../users/document.ts';
import { addGroup, getScimUsers, removeGroup, type ScimUser } from '../users/records.ts';
import type { GroupTeam } from './records.ts';

/**
 * Members of a group. An item beside the team has all of them; the team itself has the active ones. Each provisioned
 * user has the ids of its groups, so that a user who becomes active again is in their teams.
 */

interface Members {
  memberIds?: Set<string>;
}

const idsIn = (members: Members | undefined): string[] => [...(members?.memberIds ?? [])].sort();

const memberIdsOf = async ({ id }: GroupTeam): Promise<string[]> => idsIn(await get<Members>(keys.scimMembers(id)));

/** In the order of the groups. 1 read per 100 groups. */
export const memberIdsOfEach = async (groups: GroupTeam[]): Promise<string[][]> => {
  const items = await batchGet<Members & Key>(groups.map(({ id }) => keys.scimMembers(id)));
  const byKey = new Map(items.map((item) => [item.pk, idsIn(item)]));
  return groups.map(({ id }) => byKey.get(keys.scimMembers(id).pk) ?? []);
};

/** @throws {ScimError} 400 for an id that is no user of the configuration */
const usersFor = async ({ configuration }: ScimCall, ids: readonly string[]): Promise<ScimUser[]> => {
  const found = await getScimUsers([...new Set(ids)]);
  const users = found.filter((user) => user.configurationId === configuration.id);
  const stranger = ids.find((id) => !users.some((user) => user.id === id));
  if (stranger !== undefined) throw invalidValue(`members: user ${stranger.slice(0, 100)} not found.`);
  return users;
};

const tooMany = () => new ScimError(413, `A group can have at most ${maxUsers} members.`);

/** @throws {ScimError} 400 or 413 */
export const addMembers = async (call: ScimCall, team: GroupTeam, ids: readonly string[]): Promise<void> => {
  const users = await usersFor(call, ids);
  if (users.length === 0) return;
  const written = await update(keys.scimMembers(team.id), {
    add: { memberIds: new Set(users.map(({ id }) => id)) },
    condition: 'attribute_not_exists(memberIds) OR size(memberIds) <= :room',
    values: { ':room': maxUsers - users.length },
  });
  if (!written) throw tooMany();
  await inBatches(users, ({ id }) => addGroup(id, team.id));
  const current = new Set(await usersOfTeam.get(team.id));
  const outside = users.flatMap(({ userId }) => (userId === undefined || current.has(userId) ? [] : [userId]));
  const memberships = new Map((await getMemberships(call.home.name, outside)).map((one) => [one.userId, one]));
  const entering = users.flatMap((user) => {
    const membership = memberships.get(user.userId ?? '');
    return membership && isActive(user, membership) ? [membership.userId] : [];
  });
  if (!(await enterTeam(team, entering))) throw tooMany();
  await inBatches(entering, (userId) => auditTeam(call, team, userId, 'join_by_scim'));
};

const leave = async (call: ScimCall, team: GroupTeam, userId: string): Promise<void> => {
  await removeFromTeam(team, userId);
  await auditTeam(call, team, userId, 'leave_by_scim');
};

/** Users who are not members are ignored, as in HCP Terraform. */
export const removeMembers = async (call: ScimCall, team: GroupTeam, ids: readonly string[]): Promise<void> => {
  const found = await getScimUsers([...new Set(ids)]);
  const users = found.filter((user) => user.configurationId === call.configuration.id);
  if (users.length === 0) return;
  await updateExisting(keys.scimMembers(team.id), { delete: { memberIds: new Set(users.map(({ id }) => id)) } });
  const current = new Set(await usersOfTeam.get(team.id));
  await inBatches(users, async ({ id, userId }) => {
    await removeGroup(id, team.id);
    if (userId !== undefined && current.has(userId)) await leave(call, team, userId);
  });
};

/** Only these users stay in the team; members whom its owners added leave it too. @throws {ScimError} 400 or 413 */
export const setMembers = async (call: ScimCall, team: GroupTeam, ids: readonly string[]): Promise<void> => {
  const users = await usersFor(call, ids);
  const former = (await memberIdsOf(team)).filter((id) => !users.some((user) => user.id === id));
  await removeMembers(call, team, former);
  const staying = new Set(users.map(({ userId }) => userId));
  const others = (await usersOfTeam.get(team.id)).filter((userId) => !staying.has(userId));
  await inBatches(others, (userId) => leave(call, team, userId));
  await addMembers(call, team, ids);
};
