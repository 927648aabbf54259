import { one, type Resource } from '../api/answer.ts';
import type { Granted } from '../api/permissions/granted.ts';
import { organizationPermissions } from '../api/permissions/reported-permissions.ts';
import type { Organization } from '../people/organizations/records.ts';
import { mostTasks } from '../run-tasks/records.ts';
import { mostWorkspaceTasks } from '../run-tasks/workspace-tasks.ts';

export const organizationDocument = (organization: Organization, granted: Granted): Resource => ({
  id: organization.name,
  type: 'organizations',
  attributes: {
    name: organization.name,
    'external-id': organization.externalId,
    'created-at': organization.createdAt,
    email: organization.email,
    'session-timeout': organization.sessionTimeout,
    'session-remember': organization.sessionRemember,
    'collaborator-auth-policy': organization.collaboratorAuthPolicy,
    'cost-estimation-enabled': organization.costEstimationEnabled,
    'send-passing-statuses-for-untriggered-speculative-plans':
      organization.sendPassingStatusesForUntriggeredSpeculativePlans,
    'aggregated-commit-status-enabled': organization.aggregatedCommitStatusEnabled,
    'speculative-plan-management-enabled': organization.speculativePlanManagementEnabled,
    'allow-force-delete-workspaces': organization.allowForceDeleteWorkspaces,
    'assessments-enforced': organization.assessmentsEnforced,
    'default-execution-mode': organization.defaultExecutionMode,
    'terraform-build-worker-plan-timeout': organization.terraformBuildWorkerPlanTimeout ?? null,
    'terraform-build-worker-apply-timeout': organization.terraformBuildWorkerApplyTimeout ?? null,
    'plan-expired': false,
    'plan-expires-at': null,
    'plan-is-trial': false,
    'plan-is-enterprise': false,
    'plan-identifier': 'self_hosted',
    'fair-run-queuing-enabled': false,
    'saml-enabled': false,
    'owners-team-saml-role-id': null,
    'two-factor-conformant': true,
    'is-in-degraded-mode': false,
    permissions: organizationPermissions(granted),
  },
  relationships: {
    'default-agent-pool': one('agent-pools', organization.defaultAgentPoolId),
    'default-project': one('projects', organization.defaultProjectId),
    'entitlement-set': one('entitlement-sets', organization.externalId),
    subscription: { data: null },
  },
  links: { self: `/api/v2/organizations/${organization.name}` },
});

/** What this platform can do; the command line runs remotely only with `operations`. */
export const entitlementsDocument = (organization: Organization): Resource => ({
  id: organization.externalId,
  type: 'entitlement-sets',
  attributes: {
    agents: true,
    'audit-logging': true,
    'configuration-designer': false,
    'cost-estimation': true,
    'global-run-tasks': true,
    operations: true,
    'policy-enforcement': true,
    'private-module-registry': false,
    'private-policy-agents': false,
    'private-run-tasks': false,
    'private-vcs': false,
    'run-tasks': true,
    'run-task-limit': mostTasks,
    'run-task-workspace-limit': mostWorkspaceTasks,
    'run-task-mandatory-enforcement-limit': null,
    'self-serve-billing': false,
    sentinel: false,
    sso: false,
    'state-storage': true,
    teams: true,
    'usage-reporting': false,
    'user-limit': null,
    'vcs-integrations': false,
    'waypoint-actions': false,
    'waypoint-templates-and-addons': false,
  },
  links: { self: `/api/v2/entitlement-sets/${organization.externalId}` },
});

/** How many runs wait and how many are worked on. */
export const capacityDocument = (
  organization: Organization,
  counts: { pending: number; running: number },
): Resource => ({ id: organization.externalId, type: 'organization-capacity', attributes: counts });
