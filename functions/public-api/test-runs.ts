import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { testRunRoutes } from '#features/module-tests/routes.ts';
import { testVariableRoutes } from '#features/module-tests/variable-routes.ts';
import { queryRoutes } from '#features/queries/routes.ts';
import { authority } from './authority.ts';

/** Tests of modules, and queries, which run without a place in a workspace's history. */
export const routes: Route[] = versioned([...testRunRoutes, ...testVariableRoutes, ...queryRoutes]);

export const handler = serve(routes, authority);
