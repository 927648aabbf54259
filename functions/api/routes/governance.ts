import { type Route, versioned } from '../route.ts';
import { costEstimateRoutes } from './cost-estimates.ts';
import { policyRoutes } from './policies.ts';
import { policyResultRoutes } from './policy-results.ts';
import { policySetVersionRoutes } from './policy-set-versions.ts';
import { policySetRoutes } from './policy-sets.ts';
import { taskCallbackRoutes } from './task-callbacks.ts';
import { taskStageRoutes } from './task-stages.ts';
import { taskRoutes } from './tasks.ts';
import { variableSetRoutes } from './variable-sets.ts';
import { variableOfSetRoutes, variableRoutes } from './variables.ts';

/**
 * What the function Governance answers: what organizations lay down for their workspaces (variables and sets of them,
 * run tasks, policies), and what came of it in runs. Apart, so that a request for a run or a state waits for no code of theirs when
 * a function starts. API Gateway knows them by the paths in infra/api-routes.ts.
 */
export const governanceRoutes: Route[] = versioned([
  ...variableSetRoutes,
  ...variableRoutes,
  ...variableOfSetRoutes,
  ...policyRoutes,
  ...policyResultRoutes,
  ...policySetRoutes,
  ...policySetVersionRoutes,
  ...taskRoutes,
  ...taskStageRoutes,
  ...taskCallbackRoutes,
  ...costEstimateRoutes,
]);
