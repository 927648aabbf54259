import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { governanceRoutes } from './governance-routes.ts';

/** The part of the public API about run tasks, cost estimates and results of policies. */
export const handler = serve(governanceRoutes, authority);
