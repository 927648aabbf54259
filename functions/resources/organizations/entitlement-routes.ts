import { ok } from '#api/answer.ts';
import { type Route, route } from '#api/route.ts';
import { entitlementsDocument } from './entitlement-document.ts';
import { entitledOrganization } from './finder.ts';

/** Features that an organization can use; terraform reads them before every run. */
export const entitlementRoutes: Route[] = [
  route(
    'GET',
    '/organizations/{organization}/entitlement-set',
    'organization:read-entitlements',
    entitledOrganization,
    async ({ subject }) => ok(entitlementsDocument(subject.record)),
  ),
];
