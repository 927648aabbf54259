import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { noCodeProvisioning } from '#features/no-code/provisioning.ts';
import { moduleProtocolRoutes } from '#resources/registry/modules/protocol-routes.ts';
import { moduleRoutes } from '#resources/registry/modules/routes.ts';
import { gpgKeyRoutes } from '#resources/registry/providers/gpg-key-routes.ts';
import { providerProtocolRoutes } from '#resources/registry/providers/protocol-routes.ts';
import { providerRoutes } from '#resources/registry/providers/routes.ts';
import { leaveModuleRepo } from '#version-control/module-routes.ts';
import { authority } from './authority.ts';

/** Modules and providers that an organization publishes for itself. */
export const routes: Route[] = [
  ...versioned([...moduleRoutes(leaveModuleRepo, noCodeProvisioning), ...providerRoutes]),
  ...moduleProtocolRoutes,
  ...providerProtocolRoutes,
  ...gpgKeyRoutes,
];

export const handler = serve(routes, authority);
