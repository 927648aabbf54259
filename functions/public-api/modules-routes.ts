import { type Route, versioned } from '#api/route.ts';
import { noCodeRoutes } from '#features/no-code/routes.ts';
import { noCodeWorkspaceRoutes } from '#features/no-code/workspace-routes.ts';

/** Routes of the function Modules: no-code modules, and the workspaces created from them. */
export const modulesRoutes: Route[] = versioned([...noCodeRoutes, ...noCodeWorkspaceRoutes]);
