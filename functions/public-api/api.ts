import { discoveryRoutes, generalRoutes, ipRangeRoutes } from '#api/general-routes.ts';
import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { upgradable } from '#features/no-code/upgrades.ts';
import { recoverableItemListRoutes } from '#removal/recoverable-items/list-routes.ts';
import { entitlementRoutes } from '#resources/organizations/entitlement-routes.ts';
import { providerSetRoutes } from '#resources/provider-sets/routes.ts';
import { getRuns } from '#resources/runs/records.ts';
import { listVariables } from '#resources/variables/records.ts';
import { changeRequestRoutes } from '#resources/workspaces/change-requests/routes.ts';
import { workspaceRoutes } from '#resources/workspaces/routes.ts';
import { authority } from './authority.ts';
import { relatedToWorkspaces } from './includes/workspaces.ts';

const variableIds = async (workspaceId: string) => (await listVariables(workspaceId)).map(({ id }) => id);

/** Discovery, reading workspaces and deleted ones, change requests, and provider sets. */
export const routes: Route[] = [
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

export const handler = serve(routes, authority);
