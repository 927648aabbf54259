import { serve } from '#api/serve.ts';
import { accessRoutes } from './access-routes.ts';
import { authority } from './authority.ts';

/** The part of the public API about accounts, tokens, teams and agent pools. */
export const handler = serve(accessRoutes, authority);
