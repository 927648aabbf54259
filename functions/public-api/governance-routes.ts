import { type Route, versioned } from '../api/route.ts';
import { costEstimateRoutes } from '../costs/routes.ts';
import { overrideRun } from '../orchestration/decisions.ts';
import { taskCallbackRoutes } from '../orchestration/task-callback-routes.ts';
import { policyResultRoutes } from '../policies/result-routes.ts';
import { policyRoutes } from '../policies/routes.ts';
import { policySetRoutes } from '../policies/set-routes.ts';
import { policySetVersionRoutes } from '../policies/set-version-routes.ts';
import { taskRoutes } from '../run-tasks/routes.ts';
import { taskStageRoutes } from '../run-tasks/stage-routes.ts';

/**
 * What the function Governance answers: what organizations lay down for their workspaces (run tasks,
 * policies, estimates), and what came of it in runs.
 */
export const governanceRoutes: Route[] = versioned([
  ...policyRoutes,
  ...policyResultRoutes(overrideRun),
  ...policySetRoutes,
  ...policySetVersionRoutes,
  ...taskRoutes,
  ...taskStageRoutes(overrideRun),
  ...taskCallbackRoutes,
  ...costEstimateRoutes,
]);
