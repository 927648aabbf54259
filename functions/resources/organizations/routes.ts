import * as v from 'valibot';
import { type Answer, created, noContent, ok, type Resource } from '#api/answer.ts';
import { conflict, forbidden, nameTaken, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { noKeys, noStacks, type OtherFields } from '#api/known-attributes.ts';
import { email, organizationName } from '#api/names.ts';
import { isNamed, nameOf } from '#api/naming.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import { type Call, type Context, checkRefusal, type Route, route, userRoute } from '#api/route.ts';
import { readData, setting, settingsFrom, text, toOne } from '#api/validation.ts';
import { defaultAgentPool } from '#resources/agents/pools/default-agent-pool.ts';
import { withPool } from '#resources/agents/pools/input.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { getProject } from '#resources/projects/records.ts';
import { inheritFromOrganization } from '#resources/workspaces/execution-modes.ts';
import { startHealthTimers } from '#resources/workspaces/health-timer.ts';
import { engines } from '#run/engine.ts';
import { secondsIn } from '#run/limits.ts';
import { mayCreateOrganizations } from './admission-rules.ts';
import { createOrganization, updateOrganization } from './create.ts';
import { organizationDocument } from './document.ts';
import { entitlementsDocument } from './entitlement-document.ts';
import { type InOrganization, organization } from './finder.ts';
import {
  defaultOrganizationSettings,
  getOrganization,
  listOrganizations,
  type Organization,
  type OrganizationSettings,
} from './records.ts';
import { hasUnfinishedRuns, maxNames, renameOrganization } from './rename.ts';
import { carrySso, settleSso } from './sso-required.ts';
import { subscriptionDocument } from './subscription.ts';
import { carryTokenAge } from './token-age.ts';
import { carryTokenLimits, checkOwnToken } from './token-ttl.ts';
import { tokenLimits } from './token-ttl-record.ts';
import { carryUserTokens } from './user-tokens.ts';

const noPublishing = 'the private registry is for one organization';
const byOperator = 'the operator shares modules, with PATCH admin/organizations/:name';

const otherFields: OtherFields = {
  // HCP Terraform's clients request stacks with every new organization; stacks are not supported.
  shown: `created-at external-id fair-run-queuing-enabled hcp-id is-in-degraded-mode is-unified
      module-consuming-organizations-count over-stacks-resource-limit parent-data-retention-policy-info permissions
      plan-expired plan-expires-at plan-identifier plan-is-enterprise plan-is-trial
      provider-consuming-organizations-count remaining-testable-count saml-enabled test-generation-enabled
      stacks-enabled two-factor-conformant run-queue-enabled`,
  related: `audit-trails-authentication-token authentication-token default-project entitlement-set oauth-tokens
      subscription`,
  lacking: {
    'enforce-hyok': noKeys,
    'global-module-sharing': byOperator,
    'global-provider-sharing': noPublishing,
    'recoverable-items-enabled': ['deleted workspaces can always be recovered, for seven days', true],
    'registry-monorepo-support-enabled': noPublishing,
    'stacks-default-execution-mode': [noStacks, 'remote'],
    'data-retention-policy':
      'policies have a route of their own, relationships/data-retention-policy of the organization',
    'default-agent-pool': 'a new organization has no agent pools yet; set it later',
    'module-producers': byOperator,
    'provider-producers': noPublishing,
    'primary-hyok-configuration': noKeys,
    'stacks-default-agent-pool': noStacks,
  },
};

const minutes = v.pipe(v.number(), v.integer('must be a whole number of minutes'), v.minValue(1, 'must be at least 1'));

/** Time limit of a plan or an apply (Terraform Enterprise API: admin, organizations). */
const timeLimit = v.pipe(
  v.string(),
  v.check(
    (text) => secondsIn(text) >= 1 && secondsIn(text) <= 24 * 3600,
    'must be a duration from 1s to 24h, e.g. 1h30m',
  ),
);

const settings = {
  'session-timeout': setting(minutes),
  'session-remember': setting(minutes),
  'collaborator-auth-policy': setting(
    v.literal('password', 'can only be "password": this platform has no two-factor authentication'),
  ),
  'cost-estimation-enabled': setting(v.boolean()),
  'send-passing-statuses-for-untriggered-speculative-plans': setting(v.boolean()),
  'aggregated-commit-status-enabled': setting(v.boolean()),
  'speculative-plan-management-enabled': setting(v.boolean()),
  'pull-request-comments-enabled': setting(v.boolean()),
  'allow-force-delete-workspaces': setting(v.boolean()),
  'user-tokens-enabled': setting(v.boolean()),
  'sso-max-token-age': setting(minutes),
  'sso-required': setting(v.boolean()),
  'max-ttl-enabled': setting(v.boolean()),
  'owners-team-saml-role-id': setting(v.nullable(text(250))),
  'assessments-enforced': setting(v.boolean()),
  'default-execution-mode': setting(v.picklist(['remote', 'local', 'agent'])),
  'default-engine': setting(v.picklist(engines)),
  'terraform-build-worker-plan-timeout': setting(timeLimit),
  'terraform-build-worker-apply-timeout': setting(timeLimit),
};

const relationships = {
  'default-agent-pool': v.optional(toOne('agent-pools')),
  'break-glass-owner': v.optional(toOne('users')),
};

/** Completes the requested execution mode with the requested agent pool. */
const settlePool = async (
  change: Partial<OrganizationSettings>,
  relationship: { data: { id: string } | null } | undefined,
  current: Pick<Organization, 'name'> & Partial<Organization>,
): Promise<void> => {
  if (!change.defaultExecutionMode && !relationship) return;
  change.defaultAgentPoolId = await defaultAgentPool({
    organization: current.name,
    mode: change.defaultExecutionMode ?? current.defaultExecutionMode ?? 'remote',
    requested: relationship && (relationship.data?.id ?? null),
    current: current.defaultAgentPoolId,
    pointer: '/data/relationships/default-agent-pool',
  });
};

const listIncludes = includable('subscription');
const readIncludes = includable('subscription', 'entitlement_set', 'default_project');

/** Some valid tokens have no access to the organization: by age, lifetime, address or the way of signing in. */
const restrictsTokens = (organization: Organization): boolean =>
  organization.ssoMaxTokenAge !== null ||
  organization.ssoRequired ||
  organization.ipAllowlists !== undefined ||
  tokenLimits(organization) !== undefined;

const listMine = async ({ request, principal }: Call): Promise<Answer> => {
  const page = pageOf(request);
  const include = listIncludes.of(request);
  const [both, byName, byEmail] = ['q', 'q[name]', 'q[email]'].map((q) => (request.query.get(q) ?? '').toLowerCase());
  const fits = ({ name, email }: Organization) =>
    `${nameOf(name)}\n${email}`.toLowerCase().includes(both ?? '') &&
    nameOf(name)
      .toLowerCase()
      .includes(byName ?? '') &&
    email.toLowerCase().includes(byEmail ?? '');
  const fitting = (await listOrganizations(principal.userId)).filter(fits);
  const isOpen = async (organization: Organization) =>
    (organization.userTokensEnabled && !restrictsTokens(organization)) ||
    (await principal.on({ organization: organization.name })).has('organization:read');
  const open = await Promise.all(fitting.map(isOpen));
  const all = fitting.filter((_, i) => open[i]);
  // If all matching organizations are closed to this caller, an error explains why; an empty list would not.
  const closed = fitting.find(restrictsTokens);
  if (closed && all.length === 0) await checkRefusal(principal, closed.name, request.address);
  const shown = pageSlice(all, page);
  const data = shown.map(async (organization) =>
    organizationDocument(organization, await principal.on({ organization: organization.name })),
  );
  const included = include.has('subscription') ? shown.map(subscriptionDocument) : undefined;
  return list(request, page, all.length, await Promise.all(data), included);
};

const create = async ({ request, principal }: Call): Promise<Answer> => {
  checkPerson(principal);
  if (!(await mayCreateOrganizations(principal.userId))) {
    throw forbidden(
      "You don't have permission to create organizations. The operator of this platform can grant it with the setting organizationCreators.",
    );
  }
  const { attributes } = readData(request, { ...settings, name: organizationName, email }, {}, otherFields);
  const newSettings: OrganizationSettings = {
    ...defaultOrganizationSettings,
    ...settingsFrom(attributes, defaultOrganizationSettings),
    email: attributes.email,
  };
  if (newSettings.maxTtlEnabled) checkOwnToken(principal, newSettings, '/data/attributes/max-ttl-enabled');
  await settlePool(newSettings, undefined, { name: attributes.name });
  const organization = await createOrganization(attributes.name, newSettings, principal.userId);
  if (!organization) throw nameTaken();
  return created(organizationDocument(organization, await principal.on({ organization: organization.name })));
};

const read = async ({ request, subject, principal, granted }: Context<InOrganization>): Promise<Answer> => {
  const include = readIncludes.of(request);
  const included: Resource[] = [];
  if (include.has('subscription')) included.push(subscriptionDocument(subject.record));
  if (include.has('entitlement_set')) included.push(entitlementsDocument(subject.record));
  if (include.has('default_project')) {
    const project = await getProject(subject.record.defaultProjectId);
    included.push(...(await projectDocuments(principal, project ? [project] : [])));
  }
  const answer = ok(organizationDocument(subject.record, granted), include.size ? included : undefined);
  return withEtag(answer, subject.record);
};

const nameField = '/data/attributes/name';

/** @throws {ApiError} 409 or 422 */
const checkRenamable = async (organization: Organization, name: string): Promise<void> => {
  const names = organization.names ?? new Set();
  if (names.size >= maxNames && !names.has(name) && name !== organization.name) {
    throw unprocessable(
      nameField,
      `name: an organization can have ${maxNames} names in its life; it had ${[...names].join(', ')}`,
    );
  }
  if (await hasUnfinishedRuns(organization)) {
    throw conflict(
      'Runs are in progress, which use the name. Lock the workspaces, wait for the runs or cancel them, and rename the organization then.',
    );
  }
};

const update = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject, granted, principal } = context;
  const { attributes, relationships: related } = readData(
    request,
    { ...settings, name: v.optional(organizationName), email: v.optional(email) },
    relationships,
    otherFields,
  );
  const renames = attributes.name !== undefined && !isNamed(subject.organization, attributes.name);
  if (renames) await checkRenamable(subject.record, attributes.name ?? '');
  const change: Partial<OrganizationSettings> = settingsFrom(attributes, defaultOrganizationSettings);
  if (attributes.email) change.email = attributes.email;
  await settlePool(change, related['default-agent-pool'], subject.record);
  await settleSso(change, related['break-glass-owner'], subject.record, principal);
  if (change.maxTtlEnabled) {
    checkOwnToken(principal, { ...subject.record, ...change }, '/data/attributes/max-ttl-enabled');
  }
  const editor = await editorOf(context, subject.record, 'organization');
  const changes = Object.keys(change).length > 0;
  const changed = changes ? await withPool(() => updateOrganization(subject.record, change, editor)) : subject.record;
  const organization = changed && renames ? await renameOrganization(changed, attributes.name ?? '') : changed;
  if (organization === 'name taken') throw nameTaken();
  if (!organization) throw await refusedChange(request, 'organization', await getOrganization(subject.organization));
  if (change.userTokensEnabled !== undefined) await carryUserTokens(organization);
  if (change.ssoMaxTokenAge !== undefined) await carryTokenAge(organization);
  if (change.maxTtlEnabled !== undefined) await carryTokenLimits(organization);
  if (change.ssoRequired !== undefined || change.breakGlassOwner !== undefined) await carrySso(organization);
  if (change.assessmentsEnforced) await startHealthTimers(organization.name);
  if (change.defaultAgentPoolId !== undefined) await inheritFromOrganization(organization);
  return withEtag(ok(organizationDocument(organization, granted)), organization);
};

/** The deletion is implemented in a wing above this one. */
interface Removal {
  deleteOrganization(organization: Organization, deletedBy: string): Promise<void>;
}

/** Deletes the organization and its workspaces, as HCP Terraform does; requires an owner. */
const remove =
  ({ deleteOrganization }: Removal) =>
  async ({ subject, principal }: Context<InOrganization>): Promise<Answer> => {
    await deleteOrganization(subject.record, principal.userId);
    return noContent();
  };

export const organizationRoutes = (removal: Removal): Route[] => [
  userRoute('GET', '/organizations', 'any user', listMine, {
    q: 'text',
    'q[name]': 'text',
    'q[email]': 'text',
    include: listIncludes,
  }),
  userRoute('POST', '/organizations', 'any user', create),
  route('GET', '/organizations/{organization}', 'organization:read', organization, read, { include: readIncludes }),
  route('PATCH', '/organizations/{organization}', 'organization:update', organization, update),
  route('PUT', '/organizations/{organization}', 'organization:update', organization, update),
  route('DELETE', '/organizations/{organization}', 'organization:delete', organization, remove(removal)),
];
