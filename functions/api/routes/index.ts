import type { Route } from '../route.ts';
import { accessRoutes } from './access/index.ts';
import { coreRoutes } from './core/index.ts';
import { governanceRoutes } from './governance/index.ts';
import { settingRoutes } from './settings/index.ts';
import { waysIn } from './sign-in/index.ts';
import { stateRoutes } from './states/index.ts';

/** Every route of the public API and into it, by full path, whichever function answers it. */
export const routes: Route[] = [
  ...coreRoutes,
  ...stateRoutes,
  ...accessRoutes,
  ...settingRoutes,
  ...governanceRoutes,
  ...waysIn,
];
