import { ok } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { param } from '#api/finders.ts';
import { list, pageOf, pageSlice } from '#api/pagination.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { isOperator } from './admission-rules.ts';
import { getOrganization, type Organization } from './records.ts';
import { findVersion, terraformVersionDocument, terraformVersions } from './terraform-versions.ts';

/** Operator's view of the platform and its organizations (Terraform Enterprise API: admin). Other callers get 404. */

const adminDocument = (organization: Organization) => ({
  id: organization.name,
  type: 'organizations',
  attributes: {
    name: organization.name,
    'external-id': organization.externalId,
    'created-at': organization.createdAt,
    'notification-email': organization.email,
    'access-beta-tools': false,
    'is-disabled': false,
    'sso-enabled': false,
    'global-module-sharing': false,
    'global-provider-sharing': false,
    'terraform-build-worker-plan-timeout': organization.terraformBuildWorkerPlanTimeout ?? null,
    'terraform-build-worker-apply-timeout': organization.terraformBuildWorkerApplyTimeout ?? null,
    'terraform-worker-sudo-enabled': false,
    'workspace-limit': null,
  },
  links: { self: `/api/v2/organizations/${organization.name}` },
});

const read = async ({ request, principal }: Call) => {
  const name = param(request, 'organization');
  // Both are read for every caller, so that response times do not reveal which organizations exist.
  const [organization, may] = await Promise.all([getOrganization(name), isOperator(principal)]);
  if (!organization || !may) throw notFound(`Organization ${name} not found, or you don't have access.`);
  return ok(adminDocument(organization));
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

const versionsPath = '/admin/terraform-versions';

export const adminRoutes: Route[] = [
  userRoute('GET', '/admin/organizations/{organization}', 'any user', read),
  userRoute('GET', versionsPath, 'any user', listVersions, { 'filter[version]': 'text', 'search[version]': 'text' }),
  userRoute('GET', `${versionsPath}/{version}`, 'any user', readVersion),
];
