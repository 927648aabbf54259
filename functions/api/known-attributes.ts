import type { ErrorObject } from './errors.ts';
import type { ApiRequest } from './request.ts';

/**
 * What a body has beside what its reader takes. Three kinds, told apart in one place:
 *
 * - What documents show and nobody can set is ignored, as HCP Terraform does: clients send back whole documents.
 * - What HCP Terraform lets people set and this platform does not have is refused by name, unless it asks for nothing.
 * - What neither of them knows is refused by name too. HCP Terraform ignores it; but whoever misspells a setting here
 *   would learn that when it is missed, and a client that is newer than this platform would take it for done. `null` is
 *   let through: clients that know more than this platform send it for what they have no value for.
 */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

interface Collection {
  /** Attributes and relationships that documents show, and nobody can set. */
  shown?: string;
  related?: string;
  /** Why it cannot be set, and what it may be all the same; attributes and relationships. */
  lacking?: Record<string, string | readonly [why: string, ...same: unknown[]]>;
}

const tokens: Collection = { shown: 'created-at last-used-at token', related: 'created-by team' };
const noStacks = 'stacks are not supported';
const noPublishing = 'this platform has no private registry';
const noKeys = 'this platform does not support HYOK';
const noDestroy = 'this platform does not destroy workspaces automatically';
const variables: Collection = {
  shown: 'created-at version-id',
  related: 'configurable overwriter overwritten varset workspace',
};

/** By the collection that a request is sent to, or of which it changes one; with its owner's where that matters. */
const known: Record<string, Collection> = {
  account: {
    shown: `auth-method avatar-url enterprise-support has-git-hub-app-token has-linked-hcp is-admin is-confirmed
      is-service-account is-site-admin is-sso-login is-sudo is-unified permissions two-factor unconfirmed-email v2-only`,
    related: 'authenticated-resource authentication-tokens github-app-oauth-tokens',
    lacking: { password: 'users sign in with tokens or single sign-on' },
  },
  organizations: {
    // HCP Terraform's clients ask for stacks with every organization they make; the answer says that there are none.
    shown: `created-at external-id fair-run-queuing-enabled hcp-id is-in-degraded-mode is-unified
      module-consuming-organizations-count over-stacks-resource-limit parent-data-retention-policy-info permissions
      plan-expired plan-expires-at plan-identifier plan-is-enterprise plan-is-trial
      provider-consuming-organizations-count remaining-testable-count saml-enabled test-generation-enabled
      stacks-enabled two-factor-conformant run-queue-enabled`,
    related: `audit-trails-authentication-token authentication-token default-project entitlement-set oauth-tokens
      subscription`,
    lacking: {
      'enforce-hyok': noKeys,
      'global-module-sharing': noPublishing,
      'global-provider-sharing': noPublishing,
      'max-ttl-enabled': 'tokens have no maximum lifetime',
      'owners-team-saml-role-id': 'this platform has no SAML',
      'recoverable-items-enabled': 'deleted resources cannot be recovered',
      'registry-monorepo-support-enabled': noPublishing,
      'stacks-default-execution-mode': [noStacks, 'remote'],
      'user-tokens-enabled': ['tokens of users are always good', true],
      'data-retention-policy': 'there are no data retention policies',
      'default-agent-pool': 'a new organization has no agent pools yet; set it later',
      'module-producers': noPublishing,
      'provider-producers': noPublishing,
      'primary-hyok-configuration': noKeys,
      'stacks-default-agent-pool': noStacks,
    },
  },
  'organization-memberships': {
    shown: 'created-at is-org-two-factor-required status username',
    related: 'organization scim-identity user',
  },
  projects: {
    shown: 'created-at hcp-id is-unified permissions team-count workspace-count',
    related: 'organization effective-tag-bindings',
    lacking: {
      'auto-destroy-activity-duration': noDestroy,
      'stacks-default-execution-mode': [noStacks, 'remote'],
      'stacks-default-agent-pool': noStacks,
    },
  },
  teams: {
    shown: `hcp-resource-name is-unified non-service-users-count permissions scim-group-name scim-linked
      scim-sync-paused scim-updated-at users-count`,
    related: 'authentication-token authentication-tokens organization organization-memberships users',
    lacking: { description: 'teams have no SAML' },
  },
  'team-workspaces': { shown: 'permissions', related: 'team workspace' },
  'team-projects': { shown: 'permissions', related: 'team project' },
  'authentication-token': tokens,
  'authentication-tokens': tokens,
  'agent-pools': {
    shown: 'agent-count created-at',
    related: 'agents authentication-tokens organization workspaces',
  },
  'oauth-clients': {
    shown: 'callback-url connect-path created-at service-provider-display-name updated-at uuid',
    related: 'oauth-tokens organization',
  },
  'oauth-tokens': { shown: 'created-at has-ssh-key service-provider-user uid', related: 'oauth-client' },
  workspaces: {
    shown: `actions apply-duration-average auto-destroy-status created-at effective-run-data-retention-desc
      effective-state-version-retention-desc environment inherits-project-auto-destroy last-assessment-result-at
      latest-change-at locked locked-reason no-code-upgrade-available permissions plan-duration-average
      policy-check-failures resource-count run-failures source source-module-id tag-names updated-at
      vcs-repo-identifier workspace-kpis-runs-count`,
    related: `current-assessment-result current-configuration-version current-run current-state-version
      effective-tag-bindings latest-run locked-by organization outputs readme remote-state-consumers vars`,
    lacking: {
      'migration-environment': 'legacy environments are not supported',
      'ssh-key': 'this platform has no SSH keys',
    },
  },
  'workspaces/notification-configurations': {
    shown: 'created-at updated-at delivery-responses external-email-addresses user-email-addresses',
    related: 'subscribable',
    lacking: { users: 'this platform sends no e-mail' },
  },
  vars: variables,
  parameters: {
    shown: variables.shown,
    related: `${variables.related} policy-set`,
    lacking: { description: 'policy set parameters have no description', hcl: 'policy set parameters are plain text' },
  },
  varsets: {
    shown: 'created-at permissions project-count stack-count updated-at var-count workspace-count',
    related: 'organization vars parent',
    lacking: { stacks: noStacks },
  },
  runs: {
    shown: `actions canceled-at created-at end-reason force-cancel-available-at has-changes permissions
      position-in-queue source status status-timestamps trigger-reason triggering-source-name updated-at`,
    related: `apply canceled-by comments confirmed-by cost-estimate created-by plan policy-checks run-events
      run-trigger-snapshots task-stages tf-policy-evaluations triggering-run triggering-source`,
    lacking: {
      comment: 'use message, or add a comment after creating the run',
      'invoke-action-addrs': 'invoking actions is not supported',
      'policy-paths': 'policies come only from policy sets',
    },
  },
  'runs/comments': { related: 'run-event' },
  'configuration-versions': {
    shown: 'changed-files error error-message source status status-timestamps upload-url',
  },
  'state-versions': {
    // Outputs are read from the state itself.
    shown: `billable-rum-count created-at encrypted-state-download-url error-message hosted-json-state-download-url
      hosted-json-state-upload-url hosted-state-download-url hosted-state-upload-url intermediate json-state-outputs
      modules permissions providers resources resources-processed sanitized-state-download-url
      sanitized-state-upload-url size state-version status terraform-version vcs-commit-sha vcs-commit-url`,
    related: 'created-by next-state-version outputs previous-state-version rollback-state-version workspace',
    lacking: { 'hyok-encrypted-data-key': noKeys },
  },
  policies: { shown: 'policy-set-count updated-at', related: 'organization policy-sets' },
  'policy-sets': {
    // Follows from global, workspaces and projects.
    shown: 'created-at policy-count project-count scoping-type updated-at versioned workspace-count',
    related: 'current-version newest-version organization',
    lacking: {
      'policy-update-patterns': 'version control connections are not supported',
    },
  },
  tasks: { shown: 'created-at updated-at', related: 'organization workspace-tasks' },
  'workspaces/tasks': { shown: 'created-at updated-at', related: 'task workspace' },
};

/** `/api/v2/organizations/acme/workspaces/w` → what is known of `workspaces`. Names and ids stand between collections. */
const collectionAt = (path: string): [string, Collection] => {
  const segments = path.replace(/^\/api\/v2\//, '').split('/');
  const collections = segments.filter((segment) => segment !== 'relationships').filter((_, i) => i % 2 === 0);
  const [owner, last] = [collections.at(-2), collections.at(-1) ?? ''];
  const combined = `${owner}/${last}`;
  // A change names it alone.
  const alone = last === 'notification-configurations' ? `workspaces/${last}` : last;
  const name = combined in known ? combined : alone;
  return [last, (Object.hasOwn(known, name) && known[name]) || {}];
};

const isOff = (value: unknown): boolean =>
  value === null || value === false || value === '' || (Array.isArray(value) && value.length === 0);

type Part = 'attributes' | 'relationships';

const escaped = (name: string): string => name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');

const problemOf = (name: string, value: unknown, part: Part, where: [string, Collection], taken: string[]) => {
  const [collection, { shown = '', related = '', lacking = {} }] = where;
  if (value === null || words(part === 'attributes' ? shown : related).includes(name)) return undefined;
  const lacks = Object.hasOwn(lacking, name) ? lacking[name] : undefined;
  if (lacks !== undefined) {
    const [why, ...same] = typeof lacks === 'string' ? [lacks] : lacks;
    return isOff(value) || same.includes(value) ? undefined : `cannot be set: ${why}`;
  }
  const choice = taken.length > 0 ? `; supported: ${taken.join(', ')}` : '';
  return `is not an attribute or relationship of ${collection}${choice}`;
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** What of `data` is neither taken nor may be there without being taken, as errors. */
export const notTaken = (
  request: ApiRequest,
  data: unknown,
  taken: Record<Part, string[]>,
): Omit<ErrorObject, 'status'>[] => {
  if (!isObject(data)) return [];
  const where = collectionAt(request.path);
  return (['attributes', 'relationships'] as const).flatMap((part) => {
    const given = data[part];
    if (!isObject(given)) return [];
    return Object.entries(given).flatMap(([name, value]) => {
      if (taken[part].includes(name)) return [];
      const said = part === 'relationships' && isObject(value) && 'data' in value ? value.data : value;
      const linked = part === 'relationships' && isObject(value) && !('data' in value);
      const problem = linked ? undefined : problemOf(name, said, part, where, taken[part]);
      if (!problem) return [];
      return [
        {
          title: 'invalid attribute',
          detail: `${name.slice(0, 100)}: ${problem}`,
          source: { pointer: `/data/${part}/${escaped(name)}` },
        },
      ];
    });
  });
};
