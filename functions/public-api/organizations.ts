import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { allOrganizationRoutes } from './organizations-routes.ts';

/** The part of the public API about organizations and projects. */
export const handler = serve(allOrganizationRoutes, authority);
