import { hashSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { remove } from '#platform/store/table.ts';
import { releaseUnique } from '#platform/store/unique-names.ts';
import type { Team, TeamGroup } from '#resources/teams/team.ts';

/** Items beside the team of a group: pointers by which the directory finds it, and its members. */

export const groupNameKey = ({ configurationId, displayName }: TeamGroup): Key =>
  keys.scimGroupName(configurationId, displayName);

export const externalIdKey = ({ id }: Pick<Team, 'id'>, { configurationId, externalId }: TeamGroup): Key | undefined =>
  externalId === undefined ? undefined : keys.scimExternalId(configurationId, 'GROUP', hashSecret(externalId), id);

/** Can be repeated. */
export const forgetGroup = async ({ id, scim }: Pick<Team, 'id' | 'scim'>): Promise<void> => {
  if (!scim) return;
  const pointer = externalIdKey({ id }, scim);
  if (pointer) await remove(pointer);
  await releaseUnique(groupNameKey(scim), id);
  await remove(keys.scimMembers(id));
};
