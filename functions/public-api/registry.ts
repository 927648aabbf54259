import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { registryRoutes } from './registry-routes.ts';

/** The private registry: its part of the public API, and Terraform's registry protocols. */
export const handler = serve(registryRoutes, authority);
