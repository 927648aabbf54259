import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { bulkActionRoutes } from '#features/explorer/bulk-routes.ts';
import { explorerRoutes } from '#features/explorer/routes.ts';
import { authority } from './authority.ts';

/** Queries on all workspaces of an organization, and bulk actions on the results. */
export const routes: Route[] = versioned([...explorerRoutes, ...bulkActionRoutes]);

export const handler = serve(routes, authority);
