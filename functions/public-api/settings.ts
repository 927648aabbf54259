import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { settingRoutes } from './settings-routes.ts';

/** The part of the public API about variables, tags, keys, run triggers and notifications. */
export const handler = serve(settingRoutes, authority);
