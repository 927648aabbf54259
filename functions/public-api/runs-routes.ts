import { type Route, versioned } from '../api/route.ts';
import { configurationVersionRoutes } from '../configurations/routes.ts';
import { relatedToRuns } from '../includes/runs.ts';
import { runActionRoutes } from '../orchestration/action-routes.ts';
import { assessRoutes } from '../orchestration/assess-routes.ts';
import { acceptUpload } from '../orchestration/create-run.ts';
import { newRunRoutes } from '../orchestration/new-run-routes.ts';
import { runEventRoutes } from '../runs/event-routes.ts';
import { runRoutes } from '../runs/routes.ts';
import { commitRoutes } from '../version-control/commit-routes.ts';

/** What the function Runs answers: the way from a configuration to an apply. */
export const allRunRoutes: Route[] = versioned([
  ...configurationVersionRoutes(acceptUpload),
  ...newRunRoutes,
  ...runRoutes(relatedToRuns),
  ...commitRoutes(relatedToRuns),
  ...runActionRoutes,
  ...runEventRoutes,
  ...assessRoutes,
]);
