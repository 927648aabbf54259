import { type Route, versioned } from '#api/route.ts';
import { bulkActionRoutes } from '#features/explorer/bulk-routes.ts';
import { explorerRoutes } from '#features/explorer/routes.ts';

/** Routes of the function Explorer: queries on all workspaces of an organization, and bulk actions on the results. */
export const explorerFunctionRoutes: Route[] = versioned([...explorerRoutes, ...bulkActionRoutes]);
