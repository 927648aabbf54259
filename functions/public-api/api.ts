import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { coreRoutes } from './core-routes.ts';

/** Discovery, and reading workspaces. Other functions in this folder serve the other routes of the public API. */
export const handler = serve(coreRoutes, authority);
