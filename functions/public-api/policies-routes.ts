import { type Route, versioned } from '../api/route.ts';
import { overrideRun } from '../orchestration/decisions.ts';
import { policyResultRoutes } from '../policies/result-routes.ts';
import { policyRoutes } from '../policies/routes.ts';
import { policySetRoutes } from '../policies/set-routes.ts';
import { policySetVersionRoutes } from '../policies/set-version-routes.ts';

/** What the function Policies answers: policies, policy sets, and their results in runs. */
export const allPolicyRoutes: Route[] = versioned([
  ...policyRoutes,
  ...policyResultRoutes(overrideRun),
  ...policySetRoutes,
  ...policySetVersionRoutes,
]);
