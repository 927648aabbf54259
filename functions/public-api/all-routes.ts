import type { Route } from '#api/route.ts';
import { accessRoutes } from './access-routes.ts';
import { coreRoutes } from './core-routes.ts';
import { explorerFunctionRoutes } from './explorer-routes.ts';
import { governanceRoutes } from './governance-routes.ts';
import { modulesRoutes } from './modules-routes.ts';
import { allOrganizationRoutes } from './organizations-routes.ts';
import { allPolicyRoutes } from './policies-routes.ts';
import { registryRoutes } from './registry-routes.ts';
import { allRunRoutes } from './runs-routes.ts';
import { settingRoutes } from './settings-routes.ts';
import { allSignInRoutes } from './sign-in-routes.ts';
import { stateRoutes } from './states-routes.ts';
import { hiddenRunRoutes } from './test-runs-routes.ts';
import { versionControlRoutes } from './version-control-routes.ts';
import { workspaceChangeRoutes } from './workspaces-routes.ts';

/** All routes of the public API, sign-in and webhooks, by full path, across all functions. */
export const routes: Route[] = [
  ...coreRoutes,
  ...allRunRoutes,
  ...stateRoutes,
  ...accessRoutes,
  ...allOrganizationRoutes,
  ...workspaceChangeRoutes,
  ...settingRoutes,
  ...governanceRoutes,
  ...explorerFunctionRoutes,
  ...allPolicyRoutes,
  ...registryRoutes,
  ...modulesRoutes,
  ...hiddenRunRoutes,
  ...versionControlRoutes,
  ...allSignInRoutes,
];
