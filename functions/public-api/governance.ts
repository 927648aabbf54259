import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { decide } from '#lifecycle/decisions/decisions.ts';
import { costEstimateRoutes } from '#resources/costs/routes.ts';
import { policyResultRoutes } from '#resources/policies/result-routes.ts';
import { taskCallbackRoutes } from '#resources/run-tasks/callback-routes.ts';
import { taskRoutes } from '#resources/run-tasks/routes.ts';
import { taskStageRoutes } from '#resources/run-tasks/stage-routes.ts';
import { authority } from './authority.ts';

/**
 * Run tasks, cost estimates, and results of run tasks, policies and estimates in
 * runs.
 */
export const routes: Route[] = versioned([
  ...taskRoutes,
  ...taskStageRoutes(decide),
  ...taskCallbackRoutes,
  ...costEstimateRoutes,
  ...policyResultRoutes(decide),
]);

export const handler = serve(routes, authority);
