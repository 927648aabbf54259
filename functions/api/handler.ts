import { coreRoutes } from './routes/core.ts';
import { serve } from './serve.ts';

/** The public API, without what organizations lay down for their workspaces (governance.ts). */
export const handler = serve(coreRoutes);
