import { serve } from '../api/serve.ts';
import { authority } from './authority.ts';
import { governanceRoutes } from './governance-routes.ts';

/** The part of the public API about run tasks and cost estimates. */
export const handler = serve(governanceRoutes, authority);
