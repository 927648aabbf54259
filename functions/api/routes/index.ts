import type { Route } from '../route.ts';
import { accessRoutes } from './access.ts';
import { coreRoutes } from './core.ts';
import { governanceRoutes } from './governance.ts';
import { settingRoutes } from './settings.ts';
import { stateRoutes } from './states.ts';
import { waysIn } from './ways-in.ts';

/** Every route of the public API and into it, by full path, whichever function answers it. */
export const routes: Route[] = [
  ...coreRoutes,
  ...stateRoutes,
  ...accessRoutes,
  ...settingRoutes,
  ...governanceRoutes,
  ...waysIn,
];
