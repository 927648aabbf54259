import { type Route, versioned } from '../api/route.ts';
import { noCodeRoutes } from '../no-code/routes.ts';
import { noCodeWorkspaceRoutes } from '../no-code/workspace-routes.ts';
import { providerSetRoutes } from '../provider-sets/routes.ts';

/** Routes of the function Modules: no-code modules, the workspaces made from them, and provider sets. */
export const modulesRoutes: Route[] = versioned([...noCodeRoutes, ...noCodeWorkspaceRoutes, ...providerSetRoutes]);
