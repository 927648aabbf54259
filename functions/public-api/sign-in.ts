import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { allSignInRoutes } from './sign-in-routes.ts';

/** Signing in: the OAuth endpoints of `terraform login` and of the web page. */
export const handler = serve(allSignInRoutes, authority);
