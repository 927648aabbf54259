import { governanceRoutes } from './routes/governance/index.ts';
import { serve } from './serve.ts';

/** The part of the public API about what organizations lay down for their workspaces. */
export const handler = serve(governanceRoutes);
