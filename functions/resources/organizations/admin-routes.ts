import * as v from 'valibot';
import { noContent, ok } from '#api/answer.ts';
import { deletedMeanwhile, notFound, unprocessable } from '#api/errors.ts';
import { param } from '#api/finders.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { nameOf } from '#api/naming.ts';
import { list, pageFrom, pageOf, pageSlice } from '#api/pagination.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { identifier, readData, readWhole } from '#api/validation.ts';
import { isOperator } from './admission-rules.ts';
import { maxConsumers, shareModules } from './module-sharing.ts';
import { findOrganization, getOrganizations, type Organization } from './records.ts';
import { findVersion, terraformVersionDocument, terraformVersions } from './terraform-versions.ts';

/** Operator's view of the platform and its organizations (Terraform Enterprise API: admin). Other callers get 404. */

const adminDocument = (organization: Organization) => ({
  id: nameOf(organization.name),
  type: 'organizations',
  attributes: {
    name: nameOf(organization.name),
    'external-id': organization.externalId,
    'created-at': organization.createdAt,
    'notification-email': organization.email,
    'access-beta-tools': false,
    'is-disabled': false,
    'sso-enabled': false,
    'global-module-sharing': organization.globalModuleSharing ?? false,
    'global-provider-sharing': false,
    'terraform-build-worker-plan-timeout': organization.terraformBuildWorkerPlanTimeout,
    'terraform-build-worker-apply-timeout': organization.terraformBuildWorkerApplyTimeout,
    'terraform-worker-sudo-enabled': false,
    'workspace-limit': null,
  },
  links: { self: `/api/v2/organizations/${nameOf(organization.name)}` },
});

/** @throws {ApiError} 404 */
const find = async ({ request, principal }: Call): Promise<Organization> => {
  const name = param(request, 'organization');
  // Both are read for every caller, so that response times do not reveal which organizations exist.
  const [organization, may] = await Promise.all([findOrganization(name), isOperator(principal)]);
  if (!organization || !may) throw notFound(`Organization ${name} not found, or you don't have access.`);
  return organization;
};

const read = async (call: Call) => ok(adminDocument(await find(call)));

const ofOrganization = 'set it with PATCH organizations/:name';
const otherFields: OtherFields = {
  shown: 'created-at external-id name notification-email sso-enabled',
  related: 'owners',
  lacking: {
    'access-beta-tools': 'this platform has no beta tools',
    'apply-timeout': ofOrganization,
    'global-provider-sharing': 'only modules can be shared',
    'is-disabled': 'organizations cannot be disabled. Delete it, or remove its members',
    'plan-timeout': ofOrganization,
    'terraform-build-worker-apply-timeout': ofOrganization,
    'terraform-build-worker-plan-timeout': ofOrganization,
    'terraform-worker-sudo-enabled': 'runs have no privileges',
    'workspace-limit': ['this platform does not limit the number of workspaces', 0],
  },
};

const update = async (call: Call) => {
  const organization = await find(call);
  const { attributes } = readData(call.request, { 'global-module-sharing': v.nullish(v.boolean()) }, {}, otherFields);
  const shares = attributes['global-module-sharing'] ?? undefined;
  if (shares === undefined || shares === (organization.globalModuleSharing ?? false)) {
    return ok(adminDocument(organization));
  }
  const updated = await shareModules(organization, shares ? 'every organization' : new Set());
  if (!updated) throw deletedMeanwhile('organization');
  return ok(adminDocument(updated));
};

const listConsumers = async (call: Call) => {
  const { moduleConsumers = [] } = await find(call);
  return pageFrom(call.request, await getOrganizations([...moduleConsumers].sort()), adminDocument);
};

const consumerList = v.object({
  data: v.pipe(v.array(identifier('organizations')), v.maxLength(maxConsumers, `may have ${maxConsumers} at most`)),
});

const changeConsumers = async (call: Call) => {
  const organization = await find(call);
  const names = readWhole(call.request, consumerList).data.map(({ id }) => id);
  const named = await Promise.all(names.map(findOrganization));
  const wrong = named.findIndex((consumer) => !consumer || consumer.name === organization.name);
  if (wrong >= 0) {
    const reason = named[wrong] ? 'has these modules' : 'not found';
    throw unprocessable(`/data/${wrong}/id`, `id: organization ${names[wrong]} ${reason}`);
  }
  const consumers = new Set(named.flatMap((consumer) => consumer?.name ?? []));
  if (!(await shareModules(organization, consumers))) throw deletedMeanwhile('organization');
  return noContent();
};

const versionsFor = async ({ principal }: Call, noun: string) => {
  if (!(await isOperator(principal))) throw notFound(`${noun} not found, or you don't have access.`);
  return terraformVersions();
};

const listVersions = async (call: Call) => {
  const { versions, problem } = await versionsFor(call, 'Terraform versions');
  const { query } = call.request;
  const [exact, part] = [query.get('filter[version]'), query.get('search[version]')];
  const chosen = versions.filter(({ version }) => (!exact || version === exact) && (!part || version.includes(part)));
  const page = pageOf(call.request);
  const data = pageSlice(chosen, page).map(terraformVersionDocument);
  return list(
    call.request,
    page,
    chosen.length,
    data,
    undefined,
    problem ? { 'releases-problem': problem } : undefined,
  );
};

const readVersion = async (call: Call) => {
  const id = param(call.request, 'version');
  const versions = await versionsFor(call, `Terraform version ${id}`);
  const release = findVersion(versions, id);
  if (!release) throw notFound([`Terraform version ${id} not found.`, versions.problem].filter(Boolean).join(' '));
  return ok(terraformVersionDocument(release));
};

const path = '/admin/organizations/{organization}';
const consumersPath = `${path}/relationships/module-consumers` as const;
const versionsPath = '/admin/terraform-versions';

export const adminRoutes: Route[] = [
  userRoute('GET', path, 'any user', read),
  userRoute('PATCH', path, 'any user', update),
  userRoute('GET', consumersPath, 'any user', listConsumers),
  userRoute('PATCH', consumersPath, 'any user', changeConsumers),
  userRoute('GET', versionsPath, 'any user', listVersions, { 'filter[version]': 'text', 'search[version]': 'text' }),
  userRoute('GET', `${versionsPath}/{version}`, 'any user', readVersion),
];
