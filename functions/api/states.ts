import { stateRoutes } from './routes/states/index.ts';
import { serve } from './serve.ts';

/** The part of the public API about state and the locks that writing it takes. */
export const handler = serve(stateRoutes);
