import { serve } from '../api/serve.ts';
import { authority } from './authority.ts';
import { settingRoutes } from './settings-routes.ts';

/** The part of the public API about what workspaces are set up with. */
export const handler = serve(settingRoutes, authority);
