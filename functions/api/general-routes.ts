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

export const generalRoutes: Route[] = [
  // Clients read the headers only.
  openRoute('GET', '/ping', 'anyone', async () => noContent()),
];
