import { ok } from '../api/answer.ts';
import { type Route, route } from '../api/route.ts';
import { entitledOrganization } from '../people/organizations/finder.ts';
import { entitlementsDocument } from './document.ts';

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
