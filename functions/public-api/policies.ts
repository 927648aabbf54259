import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { allPolicyRoutes } from './policies-routes.ts';

/** The part of the public API about policies. */
export const handler = serve(allPolicyRoutes, authority);
