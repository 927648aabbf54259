import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { versionControlRoutes } from './version-control-routes.ts';

/** The part of the public API about connections to version control. */
export const handler = serve(versionControlRoutes, authority);
