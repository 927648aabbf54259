import { serve } from '../api/serve.ts';
import { authority } from './authority.ts';
import { modulesRoutes } from './modules-routes.ts';

/** The part of the public API about what is done with modules beside publishing them, and queries. */
export const handler = serve(modulesRoutes, authority);
