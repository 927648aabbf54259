import { type Route, versioned } from '../../route.ts';
import { configurationVersionRoutes } from './configuration-versions.ts';
import { entitlementRoutes } from './entitlements.ts';
import { discoveryRoutes, generalRoutes } from './general.ts';
import { planRoutes } from './plans.ts';
import { runActionRoutes } from './run-actions.ts';
import { runEventRoutes } from './run-events.ts';
import { runRoutes } from './runs.ts';
import { workspaceRoutes } from './workspaces.ts';

/** What the function Api answers: workspaces, and the way from a configuration to an apply. */
export const coreRoutes: Route[] = [
  ...discoveryRoutes,
  ...versioned([
    ...generalRoutes,
    ...entitlementRoutes,
    ...workspaceRoutes,
    ...configurationVersionRoutes,
    ...runRoutes,
    ...runActionRoutes,
    ...runEventRoutes,
    ...planRoutes,
  ]),
];
