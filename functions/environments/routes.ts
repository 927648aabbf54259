import { buildRoutes } from './builds/routes.ts';
import type { Route } from './host/route.ts';
import { stubRoutes } from './host/stub-routes.ts';
import { peopleRoutes } from './people/routes.ts';
import { dryRunRoutes } from './templates/dry-run-routes.ts';
import { fileRoutes } from './templates/file-routes.ts';
import { templateRoutes } from './templates/template-routes.ts';
import { templateVersionRoutes } from './templates/template-version-routes.ts';
import { versionRoutes } from './templates/version-routes.ts';
import { environmentRoutes } from './workspaces/routes.ts';

/** Everything that the environments' host answers. */
export const routes: Route[] = [
  ...stubRoutes,
  ...peopleRoutes,
  ...fileRoutes,
  ...templateVersionRoutes,
  ...versionRoutes,
  ...dryRunRoutes,
  ...templateRoutes,
  ...buildRoutes,
  ...environmentRoutes,
];
