import { type Route, versioned } from '#api/route.ts';
import { testRunRoutes } from '#features/module-tests/routes.ts';
import { testVariableRoutes } from '#features/module-tests/variable-routes.ts';
import { queryRoutes } from '#features/queries/routes.ts';

/** Routes of the function TestRuns: tests of modules, and queries, which run without a place in a workspace's history. */
export const hiddenRunRoutes: Route[] = versioned([...testRunRoutes, ...testVariableRoutes, ...queryRoutes]);
