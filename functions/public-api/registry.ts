import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { registryRoutes } from './registry-routes.ts';

/** The private registry: its part of the public API, and the protocols by which Terraform installs from it. */
export const handler = serve(registryRoutes, authority);
