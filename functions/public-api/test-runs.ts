import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { hiddenRunRoutes } from './test-runs-routes.ts';

/** The part of the public API about tests of modules, and queries. */
export const handler = serve(hiddenRunRoutes, authority);
