import { serve } from '../host/serve.ts';
import { createEnvironmentRoutes } from '../workspaces/create.ts';
import { startBuildRoutes } from './build-routes.ts';
import { buildStateRoutes } from './state-routes.ts';

/** What starts or cancels runs, or touches states, on the environments' host. */
export const handler = serve([...createEnvironmentRoutes, ...startBuildRoutes, ...buildStateRoutes]);
