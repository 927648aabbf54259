import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { noCodeRoutes } from '#features/no-code/routes.ts';
import { noCodeWorkspaceRoutes } from '#features/no-code/workspace-routes.ts';
import { authority } from './authority.ts';

/** No-code modules, and the workspaces created from them. */
export const routes: Route[] = versioned([...noCodeRoutes, ...noCodeWorkspaceRoutes]);

export const handler = serve(routes, authority);
