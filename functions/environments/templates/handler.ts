import { serve } from '../host/serve.ts';
import { dryRunRoutes } from './dry-run-routes.ts';
import { templateRoutes } from './template-routes.ts';
import { templateVersionRoutes } from './template-version-routes.ts';
import { versionRoutes } from './version-routes.ts';

/** Templates on the environments' host, without their builds (decisions/0041). */
export const handler = serve([...templateVersionRoutes, ...versionRoutes, ...dryRunRoutes, ...templateRoutes]);
