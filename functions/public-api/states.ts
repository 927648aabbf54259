import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { stateRoutes } from './states-routes.ts';

/** The part of the public API about state and the locks for writing it. */
export const handler = serve(stateRoutes, authority);
