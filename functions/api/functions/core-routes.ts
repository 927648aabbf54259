import { configurationVersionRoutes } from '../../configurations/routes.ts';
import { runActionRoutes } from '../../orchestration/action-routes.ts';
import { entitlementRoutes } from '../../organizations/entitlement-routes.ts';
import { runEventRoutes } from '../../runs/event-routes.ts';
import { planRoutes } from '../../runs/plan-routes.ts';
import { runRoutes } from '../../runs/routes.ts';
import { workspaceRoutes } from '../../workspaces/routes.ts';
import { discoveryRoutes, generalRoutes } from '../general-routes.ts';
import { type Route, versioned } from '../route.ts';

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
