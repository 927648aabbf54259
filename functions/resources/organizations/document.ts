import { one } from '#api/answer.ts';
import { nameOf } from '#api/naming.ts';
import type { Granted } from '#api/permissions/granted.ts';
import { organizationPermissions } from '#api/permissions/reported-permissions.ts';
import type { Organization } from './records.ts';
import { tokenLimits } from './token-ttl-record.ts';

export const organizationDocument = (organization: Organization, granted: Granted) => ({
  id: nameOf(organization.name),
  type: 'organizations',
  attributes: {
    name: nameOf(organization.name),
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
    /** Not in HCP's API: whether pull request comments contain plans. */
    'pull-request-comments-enabled': organization.pullRequestCommentsEnabled,
    'allow-force-delete-workspaces': organization.allowForceDeleteWorkspaces,
    'user-tokens-enabled': organization.userTokensEnabled,
    /** Not in HCP's API; Terraform Enterprise has it for the whole installation. */
    'sso-max-token-age': organization.ssoMaxTokenAge,
    /** Not in HCP's API, where the organization's single sign-on requires it of everybody but owners. */
    'sso-required': organization.ssoRequired,
    'max-ttl-enabled': tokenLimits(organization) !== undefined,
    'assessments-enforced': organization.assessmentsEnforced,
    'default-execution-mode': organization.defaultExecutionMode,
    'default-engine': organization.defaultEngine,
    'terraform-build-worker-plan-timeout': organization.terraformBuildWorkerPlanTimeout,
    'terraform-build-worker-apply-timeout': organization.terraformBuildWorkerApplyTimeout,
    'plan-expired': false,
    'plan-expires-at': null,
    'plan-is-trial': false,
    'plan-is-enterprise': false,
    'plan-identifier': 'self_hosted',
    'fair-run-queuing-enabled': false,
    'saml-enabled': false,
    'stacks-enabled': false,
    'owners-team-saml-role-id': organization.ownersTeamSamlRoleId,
    'two-factor-conformant': true,
    'is-in-degraded-mode': false,
    // Every registry module can have tests.
    'remaining-testable-count': 1000,
    permissions: {
      ...organizationPermissions(granted),
      // Not in HCP's API: whether the page shows environments.
      'can-use-environments': organization.hasTemplates === true || granted.has('project:create'),
    },
  },
  relationships: {
    'break-glass-owner': one('users', organization.breakGlassOwner),
    'default-agent-pool': one('agent-pools', organization.defaultAgentPoolId),
    'default-project': one('projects', organization.defaultProjectId),
    'entitlement-set': one('entitlement-sets', organization.externalId),
    subscription: one('subscriptions', `sub-${nameOf(organization.name)}`),
  },
  links: { self: `/api/v2/organizations/${nameOf(organization.name)}` },
});
