import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { modulesRoutes } from './modules-routes.ts';

/** The part of the public API about no-code modules. */
export const handler = serve(modulesRoutes, authority);
