import type { OrganizationFlag } from './organization-flags.ts';
import { organizationToken } from './organization-token.ts';
import {
  flagPermissions,
  inTeam,
  member,
  ofProjectGrant,
  ofWorkspaceGrant,
  overridePermissions,
  type Permission,
  type Permissions,
  permissions,
  run,
  task,
} from './permissions.ts';
import type { ProjectGrant, TeamAccess, WorkspaceGrant } from './team-access.ts';

/** Evaluates the table (permissions.ts) for a user and a subject. Permissions of several teams add up. */

export type Granted = ReadonlySet<Permission>;

const setOf = (...lists: Permissions[]): Granted => new Set(lists.flat());

export const noPermissions: Granted = setOf();
const ofOwner = setOf(permissions);
export const ofRun = setOf(run);
export const ofTask = setOf(task);
/** On what another organization shares. */
export const ofConsumer = setOf(['registry:read']);
const ofOrganizationToken = setOf(organizationToken);

/** Attributes of a team that determine permissions on it. */
export interface Team {
  id: string;
  organizationAccess: readonly OrganizationFlag[];
  visibility: 'secret' | 'organization';
  allowMemberTokenManagement: boolean;
  owners?: true;
}

/** A user's standing in an organization. */
export interface Standing {
  /** Absent without a membership. */
  role?: Role;
  teams: readonly Team[];
  /**
   * Reason for missing permissions: the kind of token, the time since the user's last sign-in, the way of signing in,
   * a token older than the membership, the token's lifetime, or the request's address.
   */
  refuses?: 'user token' | 'old sign-in' | 'no single sign-on' | 'older token' | 'token lifetime' | 'address';
  /** The owner acts without the single sign-on that the organization requires of all others. */
  breakGlass?: true;
}

/** Permissions on everything in the organization; undefined when they depend on teams. */
const byRole = ({ role }: Standing): Granted | undefined => {
  if (role === undefined) return noPermissions;
  if (role === 'owner') return ofOwner;
  return role === 'organization' ? ofOrganizationToken : undefined;
};

/** Whether permissions differ between workspaces: by grants, or by whether a workspace belongs to an environment. */
export const dependsOnWorkspace = (standing: Standing): boolean =>
  dependsOnGrants(standing) || standing.role === 'organization';

/** Whether grants on workspaces and projects can add permissions to the standing. */
export const dependsOnGrants = ({ role, teams }: Standing): boolean => role === 'member' && teams.length > 0;

const basics = ({ teams }: Standing): Permissions => (teams.length ? inTeam : member);

const byFlags = ({ teams }: Standing, where: 'organization' | 'everywhere'): Permissions =>
  teams.flatMap(({ organizationAccess }) => organizationAccess.flatMap((flag) => flagPermissions[flag]?.[where] ?? []));

/**
 * Overriding policies takes two delegations: from the organization to the team, and from an admin of the workspace or
 * project.
 */
const byGrants = <G extends { overrides?: boolean }>(
  { teams }: Standing,
  access: TeamAccess<G> | undefined,
  gives: (grant: G) => Permissions,
): Permissions =>
  teams.flatMap(({ id, organizationAccess }) => {
    const grant = access?.[id];
    if (!grant) return [];
    const overrides = grant.overrides && organizationAccess.includes('delegate-policy-overrides');
    return [...gives(grant), ...(overrides ? overridePermissions : [])];
  });

interface With<G> {
  teamAccess?: TeamAccess<G>;
}

export const onOrganization = (standing: Standing): Granted =>
  byRole(standing) ?? setOf(basics(standing), byFlags(standing, 'organization'), byFlags(standing, 'everywhere'));

export const onProject = (standing: Standing, project: With<ProjectGrant> | undefined): Granted =>
  byRole(standing) ??
  setOf(basics(standing), byFlags(standing, 'everywhere'), byGrants(standing, project?.teamAccess, ofProjectGrant));

export const onWorkspace = (
  standing: Standing,
  workspace: (With<WorkspaceGrant> & { managedBy?: string }) | undefined,
  project: With<ProjectGrant> | undefined,
): Granted => {
  const granted =
    byRole(standing) ??
    setOf([...onProject(standing, project)], byGrants(standing, workspace?.teamAccess, ofWorkspaceGrant));
  return workspace?.managedBy === undefined ? granted : onManaged(granted);
};

const inWorkspaces = /^(workspace|run|configuration|plan|variable|state|data):/;
const secrets: Permissions = ['state:read', 'state:read-outputs', 'plan:read-json', 'plan:export'];

/**
 * Environments belong to their owners, who use the environments' API. In this API, users who can apply runs see an
 * environment's workspace, and its administrators read its states (decisions/0041).
 */
const onManaged = (granted: Granted): Granted => {
  if (!granted.has('run:apply')) return new Set([...granted].filter((permission) => !inWorkspaces.test(permission)));
  if (granted.has('workspace:update')) return granted;
  return new Set([...granted].filter((permission) => !secrets.includes(permission)));
};

const ofTeams = permissions.filter((permission) => permission.startsWith('team:'));
const onlyByOwners: Permissions = ofTeams.filter((permission) => permission !== 'team:read');
/** The owners team has every permission: even owners cannot change its access. */
const neverGranted: Permissions = ['team:manage-access'];

/**
 * Only members and callers with team:read-secret see a secret team. Only owners change the owners team: any other caller,
 * the organization's token included, could make itself an owner.
 */
export const onTeam = (standing: Standing, team: Team): Granted => {
  const all = onOrganization(standing);
  const isMember = standing.teams.some(({ id }) => id === team.id);
  const isVisible =
    standing.role !== 'member' || team.visibility === 'organization' || all.has('team:read-secret') || isMember;
  const without = !isVisible ? ofTeams : !team.owners ? [] : standing.role === 'owner' ? neverGranted : onlyByOwners;
  const granted = [...all].filter((permission) => !without.includes(permission));
  const own: Permissions = isMember && team.allowMemberTokenManagement && !team.owners ? ['team:manage-tokens'] : [];
  return new Set([...granted, ...own]);
};

const reading: Permissions = ['workspace:read-teams', 'project:read-teams'];
const ofAccess: Permissions = [...reading, 'workspace:manage-teams', 'project:manage-teams'];

/** Permissions on a team's grant: its members see it, and so do users who manage teams here and see the team. */
export const onTeamAccess = (standing: Standing, granted: Granted, team: Team | undefined): Granted => {
  const isVisible = team !== undefined && onTeam(standing, team).has('team:read');
  const own = isVisible && standing.teams.some(({ id }) => id === team.id);
  return setOf(
    [...granted].filter((permission) => isVisible || !ofAccess.includes(permission)),
    own ? reading : [],
  );
};

/** The role of a caller. `organization` is the organization's own token. */
export type Role = 'owner' | 'member' | 'organization';
