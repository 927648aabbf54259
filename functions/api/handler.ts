import { coreRoutes } from './routes/core/index.ts';
import { serve } from './serve.ts';

/** The public API, but for what access.ts, governance.ts, settings.ts and states.ts answer. */
export const handler = serve(coreRoutes);
