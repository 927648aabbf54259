import { waysIn } from './routes/sign-in/index.ts';
import { serve } from './serve.ts';

/** Signing in: the OAuth endpoints of `terraform login` and of the web page. */
export const handler = serve(waysIn);
