import { ok } from '../../answer.ts';
import { entitlementsDocument } from '../../documents/organizations.ts';
import { entitledOrganization } from '../../finders.ts';
import { type Route, route } from '../../route.ts';

/** What an organization may use here; terraform asks before every run. */
export const entitlementRoutes: Route[] = [
  route(
    'GET',
    '/organizations/{organization}/entitlement-set',
    'organization:read-entitlements',
    entitledOrganization,
    async ({ subject }) => ok(entitlementsDocument(subject.record)),
  ),
];
