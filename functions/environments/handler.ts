import { notServed } from './host/not-served.ts';
import { serve } from './host/serve.ts';
import { routes } from './routes.ts';

/** The environments' host (Coder's API v2). */
export const handler = serve(routes, notServed);
