import { auditRoutes } from './audit/routes.ts';
import { buildRoutes } from './builds/routes.ts';
import type { Route } from './host/route.ts';
import { stubRoutes } from './host/stub-routes.ts';
import { metricRoutes } from './metrics/routes.ts';
import { peopleRoutes } from './people/routes.ts';
import { prebuildRoutes } from './prebuilds/routes.ts';
import { quotaRoutes } from './quotas/routes.ts';
import { environmentRoutes } from './workspaces/routes.ts';

/** What the environments' host answers beside templates (templates/handler.ts). */
export const routes: Route[] = [
  ...stubRoutes,
  ...peopleRoutes,
  ...buildRoutes,
  ...environmentRoutes,
  ...prebuildRoutes,
  ...quotaRoutes,
  ...auditRoutes,
  ...metricRoutes,
];
