import { runActions } from '#run/actions.ts';
import type { RunAction } from '#run/status.ts';
import type { Granted } from './granted.ts';

/** The `permissions` of the caller in documents (HCP API), computed from the table (permissions.ts). */

export const organizationPermissions = (granted: Granted) => {
  const update = granted.has('organization:update');
  return {
    'can-update': update,
    'can-destroy': granted.has('organization:delete'),
    'can-access-via-teams': granted.has('organization:read'),
    'can-create-module': granted.has('registry:write-modules'),
    'can-create-provider': granted.has('registry:write-providers'),
    'can-manage-no-code-modules': granted.has('registry:write-modules'),
    'can-deploy-no-code-modules': granted.has('workspace:create') && granted.has('registry:read'),
    'can-view-registry': granted.has('registry:read'),
    'can-create-team': granted.has('team:write'),
    'can-create-workspace': granted.has('workspace:create'),
    'can-create-project': granted.has('project:create'),
    'can-manage-users': granted.has('membership:write'),
    'can-manage-subscription': false,
    'can-manage-sso': false,
    'can-manage-run-tasks': granted.has('task:write'),
    'can-read-run-tasks': granted.has('task:read'),
    'can-manage-tags': granted.has('organization:manage-tags'),
    'can-manage-varsets': granted.has('varset:write'),
    'can-read-varsets': granted.has('varset:read'),
    'can-update-authentication-token': granted.has('organization:manage-tokens'),
    'can-update-api-token': granted.has('organization:manage-tokens'),
    'can-update-oauth': granted.has('connection:write'),
    'can-read-policies': granted.has('policy:read'),
    'can-update-sentinel': granted.has('policy:write'),
    'can-update-ssh-keys': granted.has('ssh-key:write'),
    'can-update-agent-pools': granted.has('agent-pool:write'),
    'can-view-explorer': granted.has('explorer:read'),
    'can-manage-auditing': granted.has('audit:read'),
    'can-traverse': granted.has('organization:read'),
    'can-view-usage': update,
    // Not in HCP's API; the page selects its views by them.
    'can-manage-provider-sets': granted.has('provider-set:write'),
    'can-read-audit-trail': granted.has('audit:read'),
    'can-view-users': granted.has('membership:read'),
    'can-manage-ip-allowlists': granted.has('ip-allowlist:write'),
  };
};

export const projectPermissions = (granted: Granted) => ({
  'can-read': granted.has('project:read'),
  'can-update': granted.has('project:update'),
  'can-destroy': granted.has('project:delete'),
  'can-create-workspace': granted.has('workspace:create'),
  'can-move-workspace': granted.has('workspace:move'),
  'can-read-teams': granted.has('project:read-teams'),
  'can-manage-teams': granted.has('project:manage-teams'),
  'can-manage-tags': granted.has('project:update'),
  'can-manage-varsets': granted.has('varset:write'),
});

export const workspacePermissions = (granted: Granted) => ({
  'can-update': granted.has('workspace:update'),
  'can-destroy': granted.has('workspace:delete'),
  'can-force-delete': granted.has('workspace:force-delete'),
  'can-queue-run': granted.has('run:plan'),
  'can-queue-apply': granted.has('run:apply'),
  'can-queue-destroy': granted.has('run:apply'),
  'can-read-run': granted.has('run:read'),
  'can-read-settings': granted.has('workspace:read'),
  'can-read-variable': granted.has('variable:read'),
  'can-update-variable': granted.has('variable:write'),
  'can-read-state-versions': granted.has('state:read'),
  'can-read-state-outputs': granted.has('state:read-outputs'),
  'can-create-state-versions': granted.has('state:write'),
  'can-lock': granted.has('workspace:lock'),
  'can-unlock': granted.has('workspace:lock'),
  'can-force-unlock': granted.has('workspace:force-unlock'),
  'can-manage-tags': granted.has('workspace:tag'),
  'can-manage-run-tasks': granted.has('workspace:manage-tasks'),
  'can-manage-assessments': granted.has('workspace:update'),
  'can-read-assessment-results': granted.has('workspace:read'),
  'can-manage-ephemeral-workspaces': granted.has('workspace:update'),
});

/** The owners team cannot be changed, except its members. */
export const teamPermissions = (granted: Granted, { owners = false }: { owners?: boolean }) => {
  const write = granted.has('team:write');
  return {
    'can-update-membership': granted.has('team:manage-members'),
    'can-destroy': write && !owners,
    'can-update-organization-access': granted.has('team:manage-access'),
    'can-update-api-token': granted.has('team:manage-tokens'),
    'can-view-api-token': granted.has('team:manage-tokens'),
    'can-update-visibility': write && !owners,
    'can-update-name': write && !owners,
    'can-update-sso-team-id': write,
    'can-update-member-token-management': write,
  };
};

/** Attributes of a run that determine who can cancel it. */
interface RunFacts {
  planOnly: boolean;
  createdBy: string;
}

/** Users who can apply runs can cancel any; users who can only plan can cancel their own plan-only runs. */
export const mayCancel = (granted: Granted, run: RunFacts, userId: string): boolean =>
  granted.has('run:apply') || (granted.has('run:plan') && run.planOnly && run.createdBy === userId);

type OnRun = (typeof runActions)[RunAction]['can'];

export const runPermissions = (granted: Granted, run: RunFacts, userId: string) => ({
  'can-comment': granted.has('run:comment'),
  ...(Object.fromEntries(
    Object.values(runActions).map(({ can, permission }) => [can, granted.has(permission)]),
  ) as Record<OnRun, boolean>),
  'can-cancel': mayCancel(granted, run, userId),
});
