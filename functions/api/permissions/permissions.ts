import type { OrganizationFlag } from './organization-flags.ts';
import type { ProjectGrant, ProjectParts, WorkspaceGrant, WorkspaceParts } from './team-access.ts';

/**
 * The permission table: the source of the API's checks, of the `permissions` in documents, and of the table in the
 * documentation. It follows HCP Terraform's documentation (permissions of organizations, projects and workspaces; API
 * tokens).
 */
const everything = [
  'organization:read',
  'organization:read-entitlements',
  'organization:update',
  'organization:delete',
  'organization:manage-tokens',
  'organization:manage-tags',
  'reserved-tag-key:read',
  'reserved-tag-key:write',
  'ip-allowlist:read',
  'ip-allowlist:write',
  'ssh-key:read',
  'ssh-key:write',
  'audit:read',
  'explorer:read',
  'membership:read',
  'membership:write',
  'team:read',
  'team:read-secret',
  'team:write',
  'team:manage-members',
  'team:manage-tokens',
  'team:manage-access',
  'policy:read',
  'policy:write',
  'provider-set:read',
  'provider-set:write',
  'task:read',
  'task:write',
  'registry:read',
  'registry:write-modules',
  'registry:write-providers',
  'agent-pool:read',
  'agent-pool:write',
  'connection:read',
  'connection:write',
  'project:read',
  'project:create',
  'project:update',
  'project:delete',
  'project:read-teams',
  'project:manage-teams',
  'varset:read',
  'varset:write',
  'workspace:create',
  'workspace:move',
  'workspace:read',
  'workspace:update',
  'workspace:delete',
  'workspace:force-delete',
  'workspace:tag',
  'workspace:lock',
  'workspace:force-unlock',
  'workspace:manage-tasks',
  'workspace:read-teams',
  'workspace:manage-teams',
  'run:read',
  'run:plan',
  'run:comment',
  'run:apply',
  'run:force-cancel',
  'run:override-policy',
  'configuration:read',
  'plan:read-json',
  'plan:export',
  'variable:read',
  'variable:write',
  'state:read-outputs',
  'state:read',
  'state:write',
  'data:delete',
] as const;

export type Permission = (typeof everything)[number];
export const permissions: readonly Permission[] = everything;

export type Permissions = readonly Permission[];
/** Permissions by value of one part of an access level: `{ read: […], apply: […] }` for runs. */
type Values<T> = Record<T extends boolean ? `${T}` : Extract<T, string>, Permissions>;
type Gives<Parts> = { [P in keyof Parts]: Values<Parts[P]> };

const readRuns: Permissions = ['workspace:read', 'run:read', 'configuration:read'];
const planRuns: Permissions = [...readRuns, 'run:plan', 'run:comment'];
const switched = (on: Permissions) => ({ false: [], true: on });

export const workspacePartPermissions: Gives<WorkspaceParts> = {
  runs: { read: readRuns, plan: planRuns, apply: [...planRuns, 'run:apply'] },
  variables: { none: [], read: ['variable:read'], write: ['variable:read', 'variable:write'] },
  'state-versions': {
    none: [],
    'read-outputs': ['state:read-outputs'],
    read: ['state:read-outputs', 'state:read'],
    write: ['state:read-outputs', 'state:read', 'state:write'],
  },
  'sentinel-mocks': { none: [], read: ['plan:export'] },
  'workspace-locking': switched(['workspace:lock']),
  'run-tasks': switched(['workspace:manage-tasks']),
};

export const workspaceParts: Record<'read' | 'plan' | 'write' | 'admin', WorkspaceParts> = {
  read: {
    runs: 'read',
    variables: 'read',
    'state-versions': 'read',
    'sentinel-mocks': 'none',
    'workspace-locking': false,
    'run-tasks': false,
  },
  plan: {
    runs: 'plan',
    variables: 'read',
    'state-versions': 'read',
    'sentinel-mocks': 'none',
    'workspace-locking': false,
    'run-tasks': false,
  },
  write: {
    runs: 'apply',
    variables: 'write',
    'state-versions': 'write',
    'sentinel-mocks': 'read',
    'workspace-locking': true,
    'run-tasks': false,
  },
  admin: {
    runs: 'apply',
    variables: 'write',
    'state-versions': 'write',
    'sentinel-mocks': 'read',
    'workspace-locking': true,
    'run-tasks': true,
  },
};

/** Permissions that administrators of a workspace have in addition to those of all parts. */
const workspaceAdmin: Permissions = [
  'workspace:update',
  'workspace:delete',
  'workspace:tag',
  'workspace:force-unlock',
  'workspace:read-teams',
  'workspace:manage-teams',
  'run:force-cancel',
  'plan:read-json',
  'data:delete',
];

export const projectPartPermissions: Gives<Omit<ProjectParts, 'workspaces'>> = {
  settings: {
    read: ['project:read'],
    update: ['project:read', 'project:update'],
    delete: ['project:read', 'project:update', 'project:delete'],
  },
  teams: { none: [], read: ['project:read-teams'], manage: ['project:read-teams', 'project:manage-teams'] },
  'variable-sets': { none: [], read: ['varset:read'], write: ['varset:read', 'varset:write'] },
  create: switched(['workspace:create']),
  move: switched(['workspace:move']),
  delete: switched(['workspace:delete']),
};

/** Default parts of a custom level. */
export const customWorkspace: WorkspaceParts = {
  runs: 'read',
  variables: 'none',
  'state-versions': 'none',
  'sentinel-mocks': 'none',
  'workspace-locking': false,
  'run-tasks': false,
};

const nothingOfProject = { settings: 'read', teams: 'none', create: false, move: false, delete: false } as const;

export const projectParts: Record<'read' | 'write' | 'maintain' | 'admin', ProjectParts> = {
  read: { ...nothingOfProject, 'variable-sets': 'none', workspaces: workspaceParts.read },
  write: { ...nothingOfProject, 'variable-sets': 'write', workspaces: workspaceParts.write },
  maintain: {
    ...nothingOfProject,
    'variable-sets': 'write',
    create: true,
    delete: true,
    workspaces: workspaceParts.admin,
  },
  admin: {
    settings: 'delete',
    teams: 'manage',
    'variable-sets': 'write',
    create: true,
    move: true,
    delete: true,
    workspaces: workspaceParts.admin,
  },
};

export const customProject: ProjectParts = {
  ...nothingOfProject,
  'variable-sets': 'none',
  workspaces: customWorkspace,
};

const valuesOf = <P extends object>(gives: Gives<P>, parts: P): Permission[] =>
  (Object.keys(gives) as (keyof P)[]).flatMap((part) => gives[part][String(parts[part]) as keyof Values<P[keyof P]>]);

export const overridePermissions: Permissions = ['run:override-policy'];

export const ofWorkspaceGrant = ({ access, parts }: Pick<WorkspaceGrant, 'access' | 'parts'>): Permissions => {
  const chosen = access === 'custom' ? parts : workspaceParts[access];
  return [...(chosen ? valuesOf(workspacePartPermissions, chosen) : []), ...(access === 'admin' ? workspaceAdmin : [])];
};

export const ofProjectGrant = ({ access, parts }: Pick<ProjectGrant, 'access' | 'parts'>): Permissions => {
  const chosen = access === 'custom' ? parts : projectParts[access];
  if (!chosen) return [];
  const administers = access === 'maintain' || access === 'admin';
  return [
    ...valuesOf<Omit<ProjectParts, 'workspaces'>>(projectPartPermissions, chosen),
    ...valuesOf(workspacePartPermissions, chosen.workspaces),
    ...(administers ? workspaceAdmin : []),
  ];
};

const administerWorkspaces = ofWorkspaceGrant({ access: 'admin' });
const administerProjects = ofProjectGrant({ access: 'admin' });
const members: Permissions = ['membership:read', 'membership:write', 'team:manage-members'];
/** Permission on the explorer itself; its rows contain only visible workspaces (HCP API: explorer). */
const explorer: Permissions = ['explorer:read'];
const teams: Permissions = [...members, 'team:write', 'team:manage-tokens'];

/**
 * Permissions of a team's flag, on the organization alone and on everything in it. Missing flags concern features
 * that this platform does not provide.
 */
export const flagPermissions: { [F in OrganizationFlag]?: { organization?: Permissions; everywhere?: Permissions } } = {
  'read-workspaces': { organization: explorer, everywhere: [...ofWorkspaceGrant({ access: 'read' }), 'varset:read'] },
  'read-projects': { organization: explorer, everywhere: ['project:read'] },
  // Includes creating workspaces in the default project.
  'manage-workspaces': {
    organization: ['workspace:create', 'organization:manage-tags', ...explorer],
    everywhere: [...administerWorkspaces, 'varset:read', 'varset:write'],
  },
  'manage-projects': {
    organization: [...explorer, 'provider-set:read', 'provider-set:write'],
    everywhere: [...administerProjects, 'project:create'],
  },
  'manage-policies': { organization: ['policy:read', 'policy:write'], everywhere: readRuns },
  'manage-policy-overrides': { everywhere: [...readRuns, ...overridePermissions] },
  'manage-vcs-settings': { organization: ['ssh-key:read', 'ssh-key:write', 'connection:read', 'connection:write'] },
  'manage-run-tasks': { organization: ['task:read', 'task:write'] },
  'manage-modules': { organization: ['registry:write-modules'] },
  'manage-providers': { organization: ['registry:write-providers'] },
  'manage-registry-components': { organization: ['registry:write-modules', 'registry:write-providers'] },
  'manage-agent-pools': { organization: ['agent-pool:read', 'agent-pool:write'] },
  'manage-membership': { organization: members },
  'manage-teams': { organization: teams },
  'manage-organization-access': { organization: [...teams, 'team:manage-access'] },
  'access-secret-teams': { organization: ['team:read-secret'] },
};

/** Permissions of every member of an organization, and of every member of a team on that team. */
export const member: Permissions = ['organization:read', 'organization:read-entitlements', 'team:read'];
export const inTeam: Permissions = [
  ...member,
  'task:read',
  'agent-pool:read',
  'registry:read',
  'reserved-tag-key:read',
  'connection:read',
];

/**
 * Permissions of Terraform in a run on workspaces that share state with it; only routes with `shared` accept a run's
 * token.
 */
export const run: Permissions = [
  'organization:read-entitlements',
  'workspace:read',
  'state:read',
  'state:read-outputs',
  'registry:read',
];
/** Permissions of a run task on the run that requested it. */
export const task: Permissions = ['workspace:read', 'configuration:read', 'plan:read-json'];
