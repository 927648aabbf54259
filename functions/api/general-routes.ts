import { environment } from '#platform/environment.ts';
import { json, noContent } from './answer.ts';
import { loginService } from './login-service.ts';
import { openRoute, type Route } from './route.ts';

/** Service discovery: outside of `/api/v2`, plain JSON. */
export const discoveryRoutes: Route[] = [
  openRoute('GET', '/.well-known/terraform.json', 'anyone', async () => {
    const base = '/api/v2/';
    const api = { 'tfe.v2': base, 'tfe.v2.1': base, 'tfe.v2.2': base, 'state.v2': base };
    const registry = { 'modules.v1': '/api/registry/v1/modules/', 'providers.v1': '/api/registry/v1/providers/' };
    return json(200, { ...api, ...registry, 'login.v1': loginService }, 'application/json');
  }),
];

/** Ranges change only with a deployment, which starts new processes; old ones end within a minute. */
const unchangedSince = Date.now() + 60_000;

/**
 * Address ranges that the operator states for incoming and outgoing connections (HCP API: IP ranges). Requests to
 * forges, policy sources and webhooks come from the same addresses. 304 if `If-Modified-Since` is later than the last
 * change.
 */
export const ipRangeRoutes: Route[] = [
  openRoute('GET', '/api/meta/ip-ranges', 'anyone', async (request) => {
    const since = Date.parse(request.header('if-modified-since') ?? '');
    if (since > unchangedSince) return { statusCode: 304 };
    const { api, outgoing } = environment.ipRanges;
    const ranges = { api, notifications: outgoing, sentinel: outgoing, vcs: outgoing };
    return json(200, ranges, 'application/json');
  }),
];

export const generalRoutes: Route[] = [
  // Clients read the headers only.
  openRoute('GET', '/ping', 'anyone', async () => noContent()),
];
