import { discoveryRoutes, generalRoutes } from '../api/general-routes.ts';
import { type Route, versioned } from '../api/route.ts';
import { configurationVersionRoutes } from '../configurations/routes.ts';
import { relatedToRuns } from '../includes/runs.ts';
import { relatedToWorkspaces } from '../includes/workspaces.ts';
import { runActionRoutes } from '../orchestration/action-routes.ts';
import { acceptUpload } from '../orchestration/create-run.ts';
import { newRunRoutes } from '../orchestration/new-run-routes.ts';
import { entitlementRoutes } from '../organizations/entitlement-routes.ts';
import { runEventRoutes } from '../runs/event-routes.ts';
import { getRuns } from '../runs/lists.ts';
import { planRoutes } from '../runs/plan-routes.ts';
import { runRoutes } from '../runs/routes.ts';
import { listVariables } from '../variables/records.ts';
import { workspaceRoutes } from '../workspaces/routes.ts';

const variableIds = async (workspaceId: string) => (await listVariables(workspaceId)).map(({ id }) => id);

/** What the function Api answers: workspaces, and the way from a configuration to an apply. */
export const coreRoutes: Route[] = [
  ...discoveryRoutes,
  ...versioned([
    ...generalRoutes,
    ...entitlementRoutes,
    ...workspaceRoutes({ related: relatedToWorkspaces, getRuns, variableIds }),
    ...configurationVersionRoutes(acceptUpload),
    ...newRunRoutes,
    ...runRoutes(relatedToRuns),
    ...runActionRoutes,
    ...runEventRoutes,
    ...planRoutes,
  ]),
];
