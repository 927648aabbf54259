import { serve } from '../api/serve.ts';
import { waysIn } from './sign-in-routes.ts';

/** Signing in: the OAuth endpoints of `terraform login` and of the web page. */
export const handler = serve(waysIn);
