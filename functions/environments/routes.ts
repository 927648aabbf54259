import { buildRoutes } from './builds/routes.ts';
import type { Route } from './host/route.ts';
import { stubRoutes } from './host/stub-routes.ts';
import { peopleRoutes } from './people/routes.ts';
import { environmentRoutes } from './workspaces/routes.ts';

/**
 * Routes of the environments' host, except builds (builds/handler.ts), templates (templates/handler.ts), and quotas,
 * prebuilds, audit and metrics (governance-handler.ts).
 */
export const routes: Route[] = [...stubRoutes, ...peopleRoutes, ...buildRoutes, ...environmentRoutes];
