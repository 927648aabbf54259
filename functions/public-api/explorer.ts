import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { explorerFunctionRoutes } from './explorer-routes.ts';

/** The part of the public API about the explorer: no run waits for its code. */
export const handler = serve(explorerFunctionRoutes, authority);
