import { serve } from '../host/serve.ts';
import { createEnvironmentRoutes } from '../workspaces/create.ts';
import { startBuildRoutes } from './build-routes.ts';
import { buildStateRoutes } from './state-routes.ts';

/** The routes of the environments' host that start or cancel runs, or read or replace states. */
export const handler = serve([...createEnvironmentRoutes, ...startBuildRoutes, ...buildStateRoutes]);
