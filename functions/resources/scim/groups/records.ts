import { foldCase } from '#platform/store/fold-case.ts';
import { hashSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { batchGet, put, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { now, nowAfter } from '#platform/store/time.ts';
import { claimUnique, releaseUnique } from '#platform/store/unique-names.ts';
import { createTeam, deleteTeam, getTeam, getTeams } from '#resources/teams/records.ts';
import type { Team, TeamGroup } from '#resources/teams/team.ts';
import { teamIdsOfGroups } from '#resources/users/sso-groups.ts';
import type { ScimConfiguration } from '../configurations.ts';
import { taken } from '../protocol/errors.ts';
import { externalIdKey, forgetGroup, groupNameKey } from './items.ts';

/** A group of the directory is a team, which it creates or which its owners have linked to it. */
export type GroupTeam = Team & { scim: TeamGroup };

export interface GroupAttributes {
  displayName: string;
  externalId?: string | undefined;
}

const isOf = (team: Team | undefined, configurationId: string): team is GroupTeam =>
  team?.scim?.configurationId === configurationId;

export const getGroup = async (configurationId: string, id: string): Promise<GroupTeam | undefined> => {
  const team = await getTeam(id);
  return isOf(team, configurationId) ? team : undefined;
};

/** In this order; missing ones are left out. 1 read per 100. */
export const getGroups = async (configurationId: string, ids: readonly string[]): Promise<GroupTeam[]> =>
  (await getTeams(ids)).filter((team): team is GroupTeam => isOf(team, configurationId));

const bears =
  (group: TeamGroup) =>
  async (id: string): Promise<boolean> => {
    const holder = await getGroup(group.configurationId, id);
    return holder !== undefined && foldCase(holder.scim.displayName) === foldCase(group.displayName);
  };

const claim = (team: Pick<Team, 'id'>, group: TeamGroup): Promise<boolean> =>
  claimUnique(groupNameKey(group), team.id, bears(group));

const groupTaken = (displayName: string) => taken(`A group with the displayName ${displayName} exists already.`);

/** The directory can never manage the owners, so that an error there does not lock the organization. */
const reserved = ['owners', 'sso'];

/**
 * The team that owners linked to the group with `sso-team-id`. A group never takes over a team by its name alone.
 * 1 read per group name, and 1 for the teams.
 */
const linkedTeam = async (
  organization: string,
  { displayName, externalId }: GroupAttributes,
): Promise<Team | undefined> => {
  const names = [displayName, ...(externalId ? [externalId] : [])];
  const teams = (await getTeams(await teamIdsOfGroups(names))).filter(
    (team) => team.organization === organization && !team.owners && names.includes(team.ssoTeamId ?? ''),
  );
  const [team, another] = teams.filter(({ scim }) => !scim);
  if (another) throw taken(`Several teams have the sso-team-id of this group: ${team?.name}, ${another.name}.`);
  return team;
};

const nameRule = /^(?! )[A-Za-z0-9_/ -]{1,90}(?<! )$/;

const newTeam = async (organization: string, displayName: string): Promise<Team> => {
  if (!nameRule.test(displayName)) {
    throw taken(
      `No team can have the name ${displayName.slice(0, 100)}. Create a team, and set its sso-team-id to the displayName or externalId of this group.`,
    );
  }
  const team = await createTeam(organization, { name: displayName });
  if (team) return team;
  throw taken(
    `The organization has a team ${displayName}. To let the directory manage it, set its sso-team-id to the displayName or externalId of this group.`,
  );
};

/** @throws {ScimError} 409 */
export const createGroup = async (
  { id: configurationId, organization }: ScimConfiguration,
  attributes: GroupAttributes,
): Promise<GroupTeam> => {
  const { displayName } = attributes;
  if (reserved.includes(foldCase(displayName))) throw taken(`The displayName ${displayName} is reserved.`);
  const [pointer] = await batchGet<Pointer>([keys.scimGroupName(configurationId, displayName)]);
  if (pointer && (await getGroup(configurationId, pointer.holder))) throw groupTaken(displayName);
  const linked = await linkedTeam(organization, attributes);
  const team = linked ?? (await newTeam(organization, displayName));
  const at = now();
  const group: TeamGroup = {
    configurationId,
    displayName,
    ...(attributes.externalId ? { externalId: attributes.externalId } : {}),
    ...(linked ? { linked: true as const } : {}),
    createdAt: at,
    updatedAt: at,
  };
  const written = (await claim(team, group)) && (await writeGroup(team, group, 'attribute_not_exists(scim)'));
  if (written) return written;
  if (!linked) await deleteTeam(team);
  throw groupTaken(displayName);
};

const writeGroup = async (team: Team, group: TeamGroup, condition: string): Promise<GroupTeam | undefined> => {
  const pointer = externalIdKey(team, group);
  if (pointer) await put({ ...pointer, holder: team.id });
  return updateRecord<GroupTeam>(keys.team(team.id), {
    set: { scim: group },
    condition,
  });
};

/** The team keeps its name. Undefined when the group is deleted. @throws {ScimError} 409 */
export const changeGroup = async (
  team: GroupTeam,
  { displayName, externalId }: GroupAttributes,
): Promise<GroupTeam | undefined> => {
  const { externalId: _, ...rest } = team.scim;
  const next: TeamGroup = {
    ...rest,
    displayName,
    ...(externalId ? { externalId } : {}),
    updatedAt: nowAfter(rest.updatedAt),
  };
  const renamed = foldCase(displayName) !== foldCase(team.scim.displayName);
  if (renamed && reserved.includes(foldCase(displayName))) throw taken(`The displayName ${displayName} is reserved.`);
  if (renamed && !(await claim(team, next))) throw groupTaken(displayName);
  const written = await writeGroup(team, next, 'attribute_exists(scim)');
  if (renamed) await releaseUnique(groupNameKey(written ? team.scim : next), team.id);
  const former = externalIdKey(team, team.scim);
  if (former && team.scim.externalId !== externalId) await remove(former);
  return written;
};

/** Deletes the team of a group; one that its owners had linked stays, without a group. Can be repeated. */
export const deleteGroup = async (team: GroupTeam): Promise<void> => {
  if (!team.scim.linked) return deleteTeam(team);
  await unlinkGroup(team);
};

/** The team stays, with its members. Can be repeated. */
export const unlinkGroup = async (team: GroupTeam): Promise<void> => {
  await updateExisting(keys.team(team.id), { remove: ['scim'] });
  await forgetGroup(team);
};

interface Pointer extends Key {
  holder: string;
}

/** Ids in the order of the groups' names. */
export const listGroupIds = async (configurationId: string): Promise<string[]> => {
  const { pk } = keys.scimGroupName(configurationId, '');
  return (await queryAll<Pointer>({ pk, prefix: 'GROUPNAME#' })).map(({ holder }) => holder);
};

/** Ids of groups that may have the value. */
export const lookUpGroup: Record<'displayName' | 'externalId', (conf: string, value: string) => Promise<string[]>> = {
  displayName: async (configurationId, value) =>
    (await batchGet<Pointer>([keys.scimGroupName(configurationId, value)])).map(({ holder }) => holder),
  externalId: async (configurationId, value) => {
    const { pk, sk } = keys.scimExternalId(configurationId, 'GROUP', hashSecret(value), '');
    return (await queryAll<Pointer>({ pk, prefix: sk })).map(({ holder }) => holder);
  },
};
