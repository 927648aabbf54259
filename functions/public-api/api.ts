import { serve } from '../api/serve.ts';
import { authority } from './authority.ts';
import { coreRoutes } from './core-routes.ts';

/** The public API, but for what access.ts, governance.ts, settings.ts and states.ts answer. */
export const handler = serve(coreRoutes, authority);
