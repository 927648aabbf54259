import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { acceptUpload } from '#lifecycle/creation/create-run.ts';
import { newRunRoutes } from '#lifecycle/creation/new-run-routes.ts';
import { runActionRoutes } from '#lifecycle/decisions/action-routes.ts';
import { assessRoutes } from '#lifecycle/timers/assess-routes.ts';
import { configurationVersionRoutes } from '#resources/configurations/routes.ts';
import { runEventRoutes } from '#resources/runs/event-routes.ts';
import { runRoutes } from '#resources/runs/routes.ts';
import { commitRoutes } from '#version-control/commit-routes.ts';
import { authority } from './authority.ts';
import { relatedToRuns } from './includes/runs.ts';

/** From a configuration to an apply. */
export const routes: Route[] = versioned([
  ...configurationVersionRoutes(acceptUpload),
  ...newRunRoutes,
  ...runRoutes(relatedToRuns),
  ...commitRoutes(relatedToRuns),
  ...runActionRoutes,
  ...runEventRoutes,
  ...assessRoutes,
]);

export const handler = serve(routes, authority);
