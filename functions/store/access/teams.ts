import { newId } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import { batchGet, create, get } from '../table.ts';
import { claimUnique } from '../unique-names.ts';

/** What a team may do in its whole organization (HCP API: teams, organization-access). */
export const organizationFlags = [
  'manage-policies',
  'manage-workspaces',
  'manage-vcs-settings',
  'manage-policy-overrides',
  'delegate-policy-overrides',
  'manage-modules',
  'manage-providers',
  'manage-run-tasks',
  'manage-projects',
  'manage-membership',
  'manage-teams',
  'manage-organization-access',
  'access-secret-teams',
  'read-projects',
  'read-workspaces',
  'manage-agent-pools',
  'manage-public-providers',
  'manage-public-modules',
  'manage-registry-components',
  'manage-registry-artifact-tags',
  'manage-registry-artifact-version-tags',
] as const;
export type OrganizationFlag = (typeof organizationFlags)[number];

export interface Team {
  id: string;
  organization: string;
  name: string;
  /** Secret ones are seen by their members only, and by those who may see all. */
  visibility: 'secret' | 'organization';
  organizationAccess: OrganizationFlag[];
  /** What a sign-in by OpenID Connect calls the group whose members are in the team. */
  ssoTeamId: string | null;
  allowMemberTokenManagement: boolean;
  createdAt: string;
}

export const getTeam = (id: string): Promise<Team | undefined> => get<Team>(keys.team(id));

/** In the order of the ids; missing ones are left out. */
export const getTeams = async (ids: readonly string[]): Promise<Team[]> => {
  const found: Team[] = [];
  for (let i = 0; i < ids.length; i += 100) {
    found.push(...(await batchGet<Team & Key>(ids.slice(i, i + 100).map(keys.team))));
  }
  return found;
};

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

const bears = (name: string) => async (id: string) => (await getTeam(id))?.name === name;

/** Undefined when the organization has a team of that name. */
export const createTeam = async (
  organization: string,
  given: Partial<TeamSettings> & Pick<TeamSettings, 'name'>,
): Promise<Team | undefined> => {
  const id = newId('team');
  if (!(await claimUnique(keys.teamName(organization, given.name), id, bears(given.name)))) return undefined;
  const team: Team = { ...defaultTeamSettings, ...given, id, organization, createdAt: new Date().toISOString() };
  await create({ ...keys.team(id), ...team });
  return team;
};
