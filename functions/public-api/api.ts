import { serve } from '../api/serve.ts';
import { coreRoutes } from './core-routes.ts';

/** The public API, but for what access.ts, governance.ts, settings.ts and states.ts answer. */
export const handler = serve(coreRoutes);
