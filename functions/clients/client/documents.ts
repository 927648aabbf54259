import type { testRunDocument } from '#features/module-tests/document.ts';
import type { noCodeDocument, optionDocument } from '#features/no-code/document.ts';
import type { queryRunDocument } from '#features/queries/document.ts';
import type { recoverableDocument } from '#removal/recoverable-items/document.ts';
import type { agentDocument, agentPoolDocument } from '#resources/agents/document.ts';
import type { auditExportDocument } from '#resources/audit/export-routes.ts';
import type { configurationVersionDocument, ingressDocument } from '#resources/configurations/document.ts';
import type { costEstimateDocument } from '#resources/costs/document.ts';
import type { cidrRangeDocument, ipAllowlistDocument } from '#resources/ip-allowlists/document.ts';
import type { notificationDocument } from '#resources/notifications/document.ts';
import type { bannerDocument } from '#resources/organizations/banners/document.ts';
import type { organizationDocument } from '#resources/organizations/document.ts';
import type { policyDocument, policySetDocument, policySetVersionDocument } from '#resources/policies/document.ts';
import type {
  policyCheckDocument,
  policyEvaluationDocument,
  policySetOutcomeDocument,
  setAttributes,
} from '#resources/policies/result-document.ts';
import type { projectDocument } from '#resources/projects/document.ts';
import type { tagBindingDocuments } from '#resources/projects/tags.ts';
import type { providerSetDocument } from '#resources/provider-sets/document.ts';
import type { moduleDocument, moduleVersionDocument } from '#resources/registry/modules/document.ts';
import type {
  platformDocument,
  providerDocument,
  providerVersionDocument,
} from '#resources/registry/providers/document.ts';
import type { taskDocument, workspaceTaskDocument } from '#resources/run-tasks/document.ts';
import type { outcomeDocument, taskResultDocument, taskStageDocument } from '#resources/run-tasks/stage-document.ts';
import type {
  applyDocument,
  commentDocument,
  planDocument,
  runDocument,
  runEventDocument,
} from '#resources/runs/document.ts';
import type { runTriggerDocument } from '#resources/runs/trigger-routes.ts';
import type { slackAppDocument } from '#resources/slack/app-routes.ts';
import type { slackLinkDocument } from '#resources/slack/link-routes.ts';
import type { outputDocument, stateVersionDocument } from '#resources/states/document.ts';
import type { entryDocument } from '#resources/teams/access/report-routes.ts';
import type { teamProjectDocument, teamWorkspaceDocument } from '#resources/teams/access/team-access-document.ts';
import type { teamDocument } from '#resources/teams/document.ts';
import type { identityDocument } from '#resources/users/identity-routes.ts';
import type { membershipDocument } from '#resources/users/membership-document.ts';
import type { tokenDocument } from '#resources/users/token-document.ts';
import type { accountDocument } from '#resources/users/user-document.ts';
import type { variableDocument, variableSetDocument } from '#resources/variables/document.ts';
import type { changeRequestDocument } from '#resources/workspaces/change-requests/document.ts';
import type { workspaceDocument } from '#resources/workspaces/document.ts';
import type { healthDocument } from '#resources/workspaces/health/document.ts';
import type { clientDocument } from '#version-control/document.ts';

/** Attributes of the API's resources by type, derived from the functions that write them. Types only. */

type AttributesIn<Document> = Document extends { attributes: infer Attributes } ? Attributes : never;
type Written<Builder extends (...values: never[]) => unknown> = AttributesIn<NonNullable<Awaited<ReturnType<Builder>>>>;

/** Results of the policies of one set. All of it is untrusted text. */
export type PolicySetResult = ReturnType<typeof setAttributes>;

export interface Meta {
  pagination?: { 'total-count': number; 'next-page': number | null };
  /** The client's IP address (resources/ip-allowlists/routes.ts). */
  'request-address'?: string | null;
  /** In the response to an action on a run (lifecycle/decisions/action-routes.ts). */
  message?: string;
  /** Active banner, in the response for the user's account. */
  banner?: Attributes['admin-banners'];
}

export interface Attributes {
  'access-entries': Written<typeof entryDocument>;
  'admin-banners': Written<typeof bannerDocument>;
  'agent-pools': Written<typeof agentPoolDocument>;
  'audit-exports': Written<typeof auditExportDocument>;
  agents: Written<typeof agentDocument>;
  applies: Written<typeof applyDocument>;
  'assessment-results': Written<typeof healthDocument>;
  'authentication-tokens': Written<typeof tokenDocument>;
  'cidr-range-lists': Written<typeof ipAllowlistDocument>;
  'cidr-ranges': Written<typeof cidrRangeDocument>;
  comments: Written<typeof commentDocument>;
  'configuration-versions': Written<typeof configurationVersionDocument>;
  'cost-estimates': Written<typeof costEstimateDocument>;
  identities: Written<typeof identityDocument>;
  'ingress-attributes': Written<typeof ingressDocument>;
  'notification-configurations': Written<typeof notificationDocument>;
  'no-code-modules': Written<typeof noCodeDocument>;
  'oauth-clients': Written<typeof clientDocument>;
  'organization-memberships': Written<typeof membershipDocument>;
  organizations: Written<typeof organizationDocument>;
  plans: Written<typeof planDocument>;
  policies: Written<typeof policyDocument>;
  'policy-checks': Written<typeof policyCheckDocument>;
  'policy-evaluations': Written<typeof policyEvaluationDocument>;
  'policy-set-outcomes': Written<typeof policySetOutcomeDocument>;
  'policy-set-versions': Written<typeof policySetVersionDocument>;
  'policy-sets': Written<typeof policySetDocument>;
  projects: Written<typeof projectDocument>;
  'provider-sets': Written<typeof providerSetDocument>;
  'recoverable-items': Written<typeof recoverableDocument>;
  queries: Written<typeof queryRunDocument>;
  'registry-module-versions': Written<typeof moduleVersionDocument>;
  'registry-modules': Written<typeof moduleDocument>;
  'registry-provider-platforms': Written<typeof platformDocument>;
  'registry-provider-versions': Written<typeof providerVersionDocument>;
  'registry-providers': Written<typeof providerDocument>;
  'run-events': Written<typeof runEventDocument>;
  'run-triggers': Written<typeof runTriggerDocument>;
  runs: Written<typeof runDocument>;
  'workspace-change-requests': Written<typeof changeRequestDocument>;
  'slack-apps': Written<typeof slackAppDocument>;
  'slack-links': Written<typeof slackLinkDocument>;
  'state-version-outputs': Written<typeof outputDocument>;
  'state-versions': Written<typeof stateVersionDocument>;
  'tag-bindings': AttributesIn<ReturnType<typeof tagBindingDocuments>[number]>;
  'task-result-outcomes': Written<typeof outcomeDocument>;
  'task-results': Written<typeof taskResultDocument>;
  'task-stages': Written<typeof taskStageDocument>;
  tasks: Written<typeof taskDocument>;
  'team-projects': Written<typeof teamProjectDocument>;
  'team-workspaces': Written<typeof teamWorkspaceDocument>;
  teams: Written<typeof teamDocument>;
  'test-runs': Written<typeof testRunDocument>;
  /** The user's own account has all attributes, others only the first few. */
  users: Written<typeof accountDocument>;
  vars: Written<typeof variableDocument>;
  varsets: Written<typeof variableSetDocument>;
  'variable-options': Written<typeof optionDocument>;
  'workspace-tasks': Written<typeof workspaceTaskDocument>;
  workspaces: Written<typeof workspaceDocument>;
}

export type ResourceType = keyof Attributes;
