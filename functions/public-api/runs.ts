import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { allRunRoutes } from './runs-routes.ts';

/** The part of the public API about configurations and runs. */
export const handler = serve(allRunRoutes, authority);
