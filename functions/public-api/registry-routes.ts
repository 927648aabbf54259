import { type Route, versioned } from '../api/route.ts';
import { noCodeProvisioning } from '../no-code/provisioning.ts';
import { moduleProtocolRoutes } from '../registry/modules/protocol-routes.ts';
import { moduleRoutes } from '../registry/modules/routes.ts';
import { gpgKeyRoutes } from '../registry/providers/gpg-key-routes.ts';
import { providerProtocolRoutes } from '../registry/providers/protocol-routes.ts';
import { providerRoutes } from '../registry/providers/routes.ts';
import { leaveModuleRepo } from '../version-control/module-routes.ts';

/** What the function Registry answers: modules and providers that an organization publishes for itself. */
export const registryRoutes: Route[] = [
  ...versioned([...moduleRoutes(leaveModuleRepo, noCodeProvisioning), ...providerRoutes]),
  ...moduleProtocolRoutes,
  ...providerProtocolRoutes,
  ...gpgKeyRoutes,
];
