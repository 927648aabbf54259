import type { Route } from '../route.ts';
import { coreRoutes } from './core.ts';
import { governanceRoutes } from './governance.ts';

/** Every route of the public API, by full path, whichever function answers it. */
export const routes: Route[] = [...coreRoutes, ...governanceRoutes];
