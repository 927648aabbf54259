import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { workspaceChangeRoutes } from './workspaces-routes.ts';

/** The part of the public API that creates, changes and deletes workspaces. */
export const handler = serve(workspaceChangeRoutes, authority);
