import { asEdit, type Editor } from '../../store/edits.ts';
import { derivedId, newId } from '../../store/id.ts';
import { type Key, keys } from '../../store/keys.ts';
import { batchGet, create, get, queryAll, remove, update } from '../../store/table.ts';
import { claimName, createNamed, releaseName, rename, type UniqueNames } from '../../store/unique-names.ts';
import { closeTeamAccount } from '../accounts/accounts.ts';
import { indexMember, joinTeam, type Membership, membershipsIn, roleOf } from '../accounts/memberships.ts';
import { forgetGroup, indexGroup } from '../accounts/sso-groups.ts';
import { grantsOfTeam, revoke } from './grants.ts';
import { removeAllMembers, usersOfTeam } from './members.ts';
import type { Team } from './team.ts';

export const getTeam = (id: string): Promise<Team | undefined> => get<Team>(keys.team(id));

/** In the order of the ids; missing ones are left out. */
export const getTeams = (ids: readonly string[]): Promise<Team[]> => batchGet<Team & Key>(ids.map(keys.team));

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

/** Undefined when the organization has a team of that name. */
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

/** Effective at once. Undefined when the name is taken, the team is gone, or is not as the editor has seen it. */
export const updateTeam = async (
  team: Team,
  change: Partial<TeamSettings>,
  editor: Editor,
): Promise<Team | undefined> => {
  const next = { ...team, ...change };
  const updated = await rename(names, team, next, async () => {
    const regrouped = next.ssoTeamId !== team.ssoTeamId;
    if (regrouped) await indexGroup(team, next.ssoTeamId);
    const edit = asEdit({ set: change, condition: 'attribute_exists(pk)' }, editor);
    const written = await update<Team>(keys.team(team.id), edit);
    if (regrouped) await forgetGroup(team, written ? team.ssoTeamId : next.ssoTeamId);
    return written;
  });
  return updated === 'name taken' ? undefined : updated;
};

/** Its permissions end immediately; then its records are removed. */
export const deleteTeam = async (
  team: Pick<Team, 'id' | 'organization' | 'name' | 'ssoTeamId' | 'notifications'>,
): Promise<void> => {
  await remove(keys.team(team.id));
  await Promise.all([...(team.notifications ?? [])].map((id) => remove(keys.notification(id))));
  await closeTeamAccount(team);
  await forgetGroup(team, team.ssoTeamId);
  for (const record of await grantsOfTeam(team.id)) await revoke(record);
  await removeAllMembers(team);
  await releaseName(names, team);
};

/** Names in use, with those of a team whose deletion was cut off. */
export const listTeamNames = async (organization: string): Promise<{ id: string; name: string }[]> => {
  const prefix = 'TEAMNAME#';
  const { pk } = keys.organization(organization);
  const pointers = await queryAll<{ sk: string; holder: string }>({ pk, prefix });
  return pointers.map(({ sk, holder }) => ({ id: holder, name: sk.slice(prefix.length) }));
};

/** Ids by name, of all of the organization. */
export const listTeams = async (organization: string): Promise<Team[]> => {
  const teams = await getTeams((await listTeamNames(organization)).map(({ id }) => id));
  return teams.sort((a, b) => (a.name < b.name ? -1 : 1));
};

interface Home {
  name: string;
  externalId: string;
}

/** The same for as long as the organization lives. */
export const ownersTeamId = ({ externalId }: Pick<Home, 'externalId'>): string => derivedId('team', externalId);

/** Creates it on first use for organizations older than teams. May be repeated. */
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
