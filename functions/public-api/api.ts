import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { coreRoutes } from './core-routes.ts';

/** The public API's discovery and workspaces; the other functions here answer the rest. */
export const handler = serve(coreRoutes, authority);
