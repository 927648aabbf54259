import { scimDiscoveryRoutes } from '#resources/scim/discovery-routes.ts';
import { scimGroupRoutes } from '#resources/scim/groups/routes.ts';
import { type ScimRoute, serveScim } from '#resources/scim/protocol/serve.ts';
import { scimUserRoutes } from '#resources/scim/users/routes.ts';

/** Provisioning by directories: SCIM 2.0, with errors of its own. */
export const routes: ScimRoute[] = [...scimDiscoveryRoutes, ...scimUserRoutes, ...scimGroupRoutes];

export const handler = serveScim(routes);
