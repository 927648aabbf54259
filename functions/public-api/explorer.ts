import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { explorerFunctionRoutes } from './explorer-routes.ts';

/** The part of the public API about the explorer, a separate function so that runs do not load its code. */
export const handler = serve(explorerFunctionRoutes, authority);
