import { type Route, versioned } from '../api/route.ts';
import { healthRoutes } from '../health/routes.ts';
import { lockWorkspace, unlockWorkspace } from '../orchestration/locks.ts';
import { planExportRoutes } from '../plan-exports/routes.ts';
import { phaseContentRoutes } from '../runs/phase-content-routes.ts';
import { planRoutes } from '../runs/plan-routes.ts';
import { stateOutputRoutes } from '../states/output-routes.ts';
import { workspaceResourceRoutes } from '../states/resource-routes.ts';
import { stateVersionRoutes } from '../states/routes.ts';
import { settleState } from '../states/settle.ts';
import { remoteStateConsumerRoutes } from '../states/sharing-routes.ts';
import { workspaceLockRoutes } from '../workspaces/lock-routes.ts';

/** What the function States answers: locks, state versions, their content and sharing; plans, applies and
 * health assessments, and what they left in storage. */
export const stateRoutes: Route[] = versioned([
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
