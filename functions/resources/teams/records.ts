import { dueIn } from '#platform/store/due.ts';
import { asEdit, type Editor } from '#platform/store/edits.ts';
import { derivedId, newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { listNames, recordsAt, updateRecord } from '#platform/store/records.ts';
import { create, remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { claimName, createNamed, releaseName, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import { forgetGroup as forgetScimGroup } from '#resources/scim/groups/items.ts';
import { closeTeamAccount } from '#resources/users/accounts.ts';
import { indexMember, joinTeam, type Membership, membershipsIn, roleOf } from '#resources/users/memberships.ts';
import { forgetGroup, indexGroup } from '#resources/users/sso-groups.ts';
import { grantsOfTeam, revoke } from './grants.ts';
import { removeAllMembers, usersOfTeam } from './members.ts';
import type { Team } from './team.ts';

export const { read: getTeam, readAll: getTeams } = recordsAt<Team>(keys.team);

export type TeamSettings = Pick<
  Team,
  'name' | 'visibility' | 'organizationAccess' | 'ssoTeamId' | 'allowMemberTokenManagement'
>;

export const defaultTeamSettings: Omit<TeamSettings, 'name'> = {
  visibility: 'secret',
  organizationAccess: [],
  ssoTeamId: null,
  allowMemberTokenManagement: true,
};

const names: UniqueNames<Pick<Team, 'id' | 'organization' | 'name'>> = {
  key: ({ organization, name }) => keys.teamName(organization, name),
  find: getTeam,
};

/** Undefined when the organization already has a team with this name. */
export const createTeam = async (
  organization: string,
  settings: Partial<TeamSettings> & Pick<TeamSettings, 'name'>,
): Promise<Team | undefined> => {
  const createdAt = new Date().toISOString();
  const team: Team = { ...defaultTeamSettings, ...settings, id: newId('team'), organization, createdAt };
  return createNamed(names, team, async () => {
    await indexGroup(team, team.ssoTeamId);
    await create({ ...keys.team(team.id), ...team });
    return team;
  });
};

/**
 * Takes effect at once. Undefined when the name is taken, the team is deleted, or it changed since the editor read
 * it.
 */
export const updateTeam = async (
  team: Team,
  change: Partial<TeamSettings>,
  editor: Editor,
): Promise<Team | undefined> => {
  const next = { ...team, ...change };
  const updated = await rename(names, team, next, async () => {
    const regrouped = next.ssoTeamId !== team.ssoTeamId;
    if (regrouped) await indexGroup(team, next.ssoTeamId);
    const written = await updateRecord<Team>(keys.team(team.id), asEdit({ set: change }, editor));
    if (regrouped) await forgetGroup(team, written ? team.ssoTeamId : next.ssoTeamId);
    return written;
  });
  return updated === 'name taken' ? undefined : updated;
};

/**
 * Revokes its permissions first, then removes its records. Can be repeated; the sweep completes an interrupted
 * deletion.
 */
export const deleteTeam = async (
  team: Pick<Team, 'id' | 'organization' | 'name' | 'ssoTeamId' | 'notifications' | 'scim'>,
): Promise<void> => {
  const key = keys.team(team.id);
  await updateExisting(key, { set: { deletedAt: now(), ...dueIn(team.id, 60) } });
  await Promise.all([...(team.notifications ?? [])].map((id) => remove(keys.notification(id))));
  await closeTeamAccount(team);
  await forgetGroup(team, team.ssoTeamId);
  await forgetScimGroup(team);
  for (const record of await grantsOfTeam(team.id)) await revoke(record);
  await removeAllMembers(team);
  await releaseName(names, team);
  await remove(key);
};

/** Names in use, in alphabetical order, including those of teams whose deletion was interrupted. */
export const listTeamNames = (organization: string) => listNames(organization, 'TEAMNAME#');

/** All teams of the organization, ordered by name. */
export const listTeams = async (organization: string): Promise<Team[]> =>
  getTeams((await listTeamNames(organization)).map(({ id }) => id));

interface Home {
  name: string;
  externalId: string;
}

/** Stays the same for the lifetime of the organization. */
export const ownersTeamId = ({ externalId }: Pick<Home, 'externalId'>): string => derivedId('team', externalId);

/** Creates the owners team on first use for organizations older than teams. Can be repeated. */
export const ensureOwnersTeam = async (home: Home): Promise<Team> => {
  const id = ownersTeamId(home);
  const existing = await getTeam(id);
  if (existing) return existing;
  const team: Team = {
    ...defaultTeamSettings,
    id,
    organization: home.name,
    name: 'owners',
    visibility: 'organization',
    createdAt: new Date().toISOString(),
    owners: true,
  };
  const owners = (await membershipsIn(home.name)).filter((membership) => roleOf(membership) === 'owner');
  for (const membership of owners) await enter(team, membership);
  await claimName(names, team);
  await create({ ...keys.team(id), ...team });
  return team;
};

const enter = async (team: Team, membership: Membership): Promise<void> => {
  await indexMember(membership);
  await usersOfTeam.add(team.id, [membership.userId]);
  await joinTeam(team, membership.userId);
};
