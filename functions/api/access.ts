import { accessRoutes } from './routes/access/index.ts';
import { serve } from './serve.ts';

/** The part of the public API about people, tokens, organizations and projects. */
export const handler = serve(accessRoutes);
