import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { lockWorkspace, unlockWorkspace } from '#lifecycle/queue/locks.ts';
import { phaseContentRoutes } from '#resources/runs/phase-content-routes.ts';
import { planExportRoutes } from '#resources/runs/plan-exports/routes.ts';
import { planRoutes } from '#resources/runs/plan-routes.ts';
import { stateOutputRoutes } from '#resources/states/output-routes.ts';
import { workspaceResourceRoutes } from '#resources/states/resource-routes.ts';
import { stateVersionRoutes } from '#resources/states/routes.ts';
import { settleState } from '#resources/states/settle.ts';
import { remoteStateConsumerRoutes } from '#resources/states/sharing-routes.ts';
import { healthRoutes } from '#resources/workspaces/health/routes.ts';
import { workspaceLockRoutes } from '#resources/workspaces/lock-routes.ts';
import { authority } from './authority.ts';

/**
 * Locks, state versions, their content and sharing; plans, applies and health
 * assessments with their stored artifacts.
 */
export const routes: Route[] = versioned([
  ...workspaceLockRoutes({ lock: lockWorkspace, unlock: unlockWorkspace, settleState }),
  ...stateVersionRoutes,
  ...stateOutputRoutes,
  ...remoteStateConsumerRoutes,
  ...workspaceResourceRoutes,
  ...planRoutes,
  ...phaseContentRoutes,
  ...healthRoutes,
  ...planExportRoutes,
]);

export const handler = serve(routes, authority);
