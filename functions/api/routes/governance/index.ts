import { type Route, versioned } from '../../route.ts';
import { costEstimateRoutes } from './cost-estimates.ts';
import { policyRoutes } from './policies.ts';
import { policyResultRoutes } from './policy-results.ts';
import { policySetVersionRoutes } from './policy-set-versions.ts';
import { policySetRoutes } from './policy-sets.ts';
import { taskCallbackRoutes } from './task-callbacks.ts';
import { taskStageRoutes } from './task-stages.ts';
import { taskRoutes } from './tasks.ts';

/**
 * What the function Governance answers: what organizations lay down for their workspaces (run tasks,
 * policies, estimates), and what came of it in runs.
 */
export const governanceRoutes: Route[] = versioned([
  ...policyRoutes,
  ...policyResultRoutes,
  ...policySetRoutes,
  ...policySetVersionRoutes,
  ...taskRoutes,
  ...taskStageRoutes,
  ...taskCallbackRoutes,
  ...costEstimateRoutes,
]);
