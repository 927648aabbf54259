import { serve } from '../api/serve.ts';
import { authority } from './authority.ts';
import { governanceRoutes } from './governance-routes.ts';

/** The part of the public API about what organizations lay down for their workspaces. */
export const handler = serve(governanceRoutes, authority);
