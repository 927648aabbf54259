import type { Role } from '../store/access/organizations.ts';

/**
 * Who may do what: the one table behind the API's checks and the `permissions` it reports. The workspace part follows
 * HCP Terraform's fixed permission sets (api.md §4.10); `member` is what belonging to an organization gives by itself.
 */
const read = [
  'workspace:read',
  'run:read',
  'configuration:read',
  'variable:read',
  'varset:read',
  'task:read',
  'policy:read',
  'state:read',
  'state:read-outputs',
] as const;
const plan = [...read, 'run:plan', 'run:comment'] as const;
const write = [...plan, 'run:apply', 'variable:write', 'state:write', 'workspace:lock'] as const;
const admin = [
  ...write,
  'workspace:update',
  'workspace:delete',
  'workspace:tag',
  'workspace:manage-tasks',
  'workspace:force-unlock',
  'run:force',
  'run:override-policy',
  'plan:read-json',
  'data:delete',
] as const;
const member = ['organization:read', 'organization:read-entitlements', 'project:read'] as const;
/** Of state that is shared with a run; only routes that say so let a run in at all. */
const run = ['organization:read-entitlements', 'workspace:read', 'state:read', 'state:read-outputs'] as const;
/** Of a run that asks a run task: what it is to look at. */
const task = ['workspace:read', 'configuration:read', 'plan:read-json'] as const;
const owner = [
  ...member,
  ...admin,
  'organization:update',
  'organization:delete',
  'project:create',
  'project:update',
  'project:delete',
  'workspace:create',
  'workspace:force-delete',
  'varset:write',
  'task:write',
  'policy:write',
] as const;

export type Permission = (typeof owner)[number];

const table: Record<Role, readonly Permission[]> = { owner, member, admin, write, plan, read, run, task };

export const can = (roles: readonly Role[], permission: Permission): boolean =>
  roles.some((role) => table[role].includes(permission));

/** Seeing a thing at all: without it, it does not exist for the caller. */
export const seeing = (permission: Permission): Permission =>
  /^(organization|project|varset|task|policy):/.test(permission) ? 'organization:read' : 'workspace:read';

type Permissions = Record<`can-${string}`, boolean>;

export const organizationPermissions = (roles: readonly Role[]): Permissions => {
  const update = can(roles, 'organization:update');
  return {
    'can-update': update,
    'can-destroy': can(roles, 'organization:delete'),
    'can-access-via-teams': false,
    'can-create-module': false,
    'can-create-team': false,
    'can-create-workspace': can(roles, 'workspace:create'),
    'can-create-project': can(roles, 'project:create'),
    'can-manage-users': false,
    'can-manage-subscription': false,
    'can-manage-sso': false,
    'can-manage-run-tasks': can(roles, 'task:write'),
    'can-read-run-tasks': can(roles, 'task:read'),
    'can-manage-tags': can(roles, 'workspace:tag'),
    'can-manage-varsets': can(roles, 'varset:write'),
    'can-read-varsets': can(roles, 'varset:read'),
    'can-update-authentication-token': false,
    'can-update-api-token': false,
    'can-update-oauth': false,
    'can-update-sentinel': can(roles, 'policy:write'),
    'can-update-ssh-keys': false,
    'can-update-agent-pools': false,
    'can-traverse': can(roles, 'organization:read'),
    'can-view-usage': update,
    'can-view-users': can(roles, 'organization:read'),
  };
};

export const projectPermissions = (roles: readonly Role[]): Permissions => ({
  'can-read': can(roles, 'project:read'),
  'can-update': can(roles, 'project:update'),
  'can-destroy': can(roles, 'project:delete'),
  'can-create-workspace': can(roles, 'workspace:create'),
  'can-move-workspace': can(roles, 'workspace:update'),
  'can-read-teams': false,
  'can-manage-teams': false,
  'can-manage-tags': can(roles, 'project:update'),
  'can-manage-varsets': can(roles, 'varset:write'),
});

export const workspacePermissions = (roles: readonly Role[]): Permissions => ({
  'can-update': can(roles, 'workspace:update'),
  'can-destroy': can(roles, 'workspace:delete'),
  'can-force-delete': can(roles, 'workspace:force-delete'),
  'can-queue-run': can(roles, 'run:plan'),
  'can-queue-apply': can(roles, 'run:apply'),
  'can-queue-destroy': can(roles, 'run:apply'),
  'can-read-run': can(roles, 'run:read'),
  'can-read-settings': can(roles, 'workspace:read'),
  'can-read-variable': can(roles, 'variable:read'),
  'can-update-variable': can(roles, 'variable:write'),
  'can-read-state-versions': can(roles, 'state:read'),
  'can-read-state-outputs': can(roles, 'state:read-outputs'),
  'can-create-state-versions': can(roles, 'state:write'),
  'can-lock': can(roles, 'workspace:lock'),
  'can-unlock': can(roles, 'workspace:lock'),
  'can-force-unlock': can(roles, 'workspace:force-unlock'),
  'can-manage-tags': can(roles, 'workspace:tag'),
  'can-manage-run-tasks': can(roles, 'workspace:manage-tasks'),
  'can-manage-assessments': false,
  'can-read-assessment-results': false,
  'can-manage-ephemeral-workspaces': false,
});

/** What of a run decides who may cancel it. */
interface RunFacts {
  planOnly: boolean;
  createdBy: string;
}

/** Whoever applies runs may cancel them; a planner only own plan-only runs (lifecycle rule 5). */
export const mayCancel = (roles: readonly Role[], run: RunFacts, userId: string): boolean =>
  can(roles, 'run:apply') || (can(roles, 'run:plan') && run.planOnly && run.createdBy === userId);

export const runPermissions = (roles: readonly Role[], run: RunFacts, userId: string): Permissions => ({
  'can-apply': can(roles, 'run:apply'),
  'can-cancel': mayCancel(roles, run, userId),
  'can-comment': can(roles, 'run:comment'),
  'can-discard': can(roles, 'run:apply'),
  'can-force-execute': can(roles, 'run:force'),
  'can-force-cancel': can(roles, 'run:force'),
  'can-override-policy-check': can(roles, 'run:override-policy'),
});
