import { settingRoutes } from './routes/settings/index.ts';
import { serve } from './serve.ts';

/** The part of the public API about what workspaces are set up with. */
export const handler = serve(settingRoutes);
