import { discoveryRoutes, generalRoutes, ipRangeRoutes } from '../api/general-routes.ts';
import { type Route, versioned } from '../api/route.ts';
import { changeRequestRoutes } from '../change-requests/routes.ts';
import { relatedToWorkspaces } from '../includes/workspaces.ts';
import { upgradable } from '../no-code/upgrades.ts';
import { entitlementRoutes } from '../organizations/entitlement-routes.ts';
import { providerSetRoutes } from '../provider-sets/routes.ts';
import { recoverableItemListRoutes } from '../recoverable-items/list-routes.ts';
import { getRuns } from '../runs/lists.ts';
import { listVariables } from '../variables/records.ts';
import { workspaceRoutes } from '../workspaces/routes.ts';

const variableIds = async (workspaceId: string) => (await listVariables(workspaceId)).map(({ id }) => id);

/** What the function Api answers: discovery, reading workspaces and deleted ones, change requests, and provider sets. */
export const coreRoutes: Route[] = [
  ...discoveryRoutes,
  ...ipRangeRoutes,
  ...versioned([
    ...generalRoutes,
    ...entitlementRoutes,
    ...workspaceRoutes({ related: relatedToWorkspaces, getRuns, variableIds, upgradable }),
    ...changeRequestRoutes,
    ...providerSetRoutes,
    ...recoverableItemListRoutes,
  ]),
];
