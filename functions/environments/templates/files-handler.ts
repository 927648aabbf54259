import { serve } from '../host/serve.ts';
import { fileRoutes } from './file-routes.ts';

/** Files of templates on the environments' host. */
export const handler = serve(fileRoutes);
