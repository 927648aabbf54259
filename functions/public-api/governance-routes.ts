import { type Route, versioned } from '../api/route.ts';
import { costEstimateRoutes } from '../costs/routes.ts';
import { overrideRun } from '../orchestration/decisions.ts';
import { taskCallbackRoutes } from '../orchestration/task-callback-routes.ts';
import { policyResultRoutes } from '../policies/result-routes.ts';
import { taskRoutes } from '../run-tasks/routes.ts';
import { taskStageRoutes } from '../run-tasks/stage-routes.ts';

/** What the function Governance answers: run tasks, cost estimates, and results of run tasks, policies and estimates in runs. */
export const governanceRoutes: Route[] = versioned([
  ...taskRoutes,
  ...taskStageRoutes(overrideRun),
  ...taskCallbackRoutes,
  ...costEstimateRoutes,
  ...policyResultRoutes(overrideRun),
]);
