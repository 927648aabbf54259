import { type Route, versioned } from '#api/route.ts';
import { bulkActionRoutes } from '#features/explorer/bulk-routes.ts';
import { explorerRoutes } from '#features/explorer/routes.ts';

/** What the function Explorer answers: queries about all workspaces of an organization, and actions on those it finds. */
export const explorerFunctionRoutes: Route[] = versioned([...explorerRoutes, ...bulkActionRoutes]);
