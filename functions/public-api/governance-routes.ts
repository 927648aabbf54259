import { type Route, versioned } from '#api/route.ts';
import { decide } from '#lifecycle/decisions/decisions.ts';
import { costEstimateRoutes } from '#resources/costs/routes.ts';
import { policyResultRoutes } from '#resources/policies/result-routes.ts';
import { taskCallbackRoutes } from '#resources/run-tasks/callback-routes.ts';
import { taskRoutes } from '#resources/run-tasks/routes.ts';
import { taskStageRoutes } from '#resources/run-tasks/stage-routes.ts';

/**
 * Routes of the function Governance: run tasks, cost estimates, and results of run tasks, policies and estimates in
 * runs.
 */
export const governanceRoutes: Route[] = versioned([
  ...taskRoutes,
  ...taskStageRoutes(decide),
  ...taskCallbackRoutes,
  ...costEstimateRoutes,
  ...policyResultRoutes(decide),
]);
