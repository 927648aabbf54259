import { type Route, versioned } from '../api/route.ts';
import { testRunRoutes } from '../module-tests/routes.ts';
import { testVariableRoutes } from '../module-tests/variable-routes.ts';
import { noCodeRoutes } from '../no-code/routes.ts';
import { noCodeWorkspaceRoutes } from '../no-code/workspace-routes.ts';
import { queryRoutes } from '../queries/routes.ts';

/** What the function Modules answers: tests of modules, workspaces made from them, and queries. */
export const modulesRoutes: Route[] = versioned([
  ...testRunRoutes,
  ...testVariableRoutes,
  ...noCodeRoutes,
  ...noCodeWorkspaceRoutes,
  ...queryRoutes,
]);
