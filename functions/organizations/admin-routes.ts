import { ok } from '../api/answer.ts';
import { notFound } from '../api/errors.ts';
import { param } from '../api/finders.ts';
import { type Call, type Route, userRoute } from '../api/route.ts';
import { isOperator } from '../people/organizations/admission-rules.ts';
import { getOrganization, type Organization } from '../people/organizations/records.ts';

/** What whoever operates the platform reads of any organization (Terraform Enterprise API: admin). For all others it is not there. */

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
  // Both are looked up for everybody: nobody learns from the time it takes which organizations there are.
  const [organization, may] = await Promise.all([getOrganization(name), isOperator(principal)]);
  if (!organization || !may) throw notFound(`Organization ${name} not found, or you don't have access.`);
  return ok(adminDocument(organization));
};

export const adminRoutes: Route[] = [userRoute('GET', '/admin/organizations/{organization}', 'any user', read)];
