import { auditRoutes } from './audit/routes.ts';
import { notServed } from './host/not-served.ts';
import { serve } from './host/serve.ts';
import { metricRoutes } from './metrics/routes.ts';
import { prebuildRoutes } from './prebuilds/routes.ts';
import { quotaRoutes } from './quotas/routes.ts';

export const handler = serve([...quotaRoutes, ...prebuildRoutes, ...auditRoutes, ...metricRoutes], notServed);
