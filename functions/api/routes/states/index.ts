import { type Route, versioned } from '../../route.ts';
import { phaseContentRoutes } from './phase-content.ts';
import { remoteStateConsumerRoutes } from './remote-state-consumers.ts';
import { stateOutputRoutes } from './state-outputs.ts';
import { stateVersionRoutes } from './state-versions.ts';
import { workspaceLockRoutes } from './workspace-locks.ts';
import { workspaceResourceRoutes } from './workspace-resources.ts';

/**
 * What the function States answers: locks, state versions, what is in them, and who else may read them; and taking away
 * for good what runs have left in storage.
 */
export const stateRoutes: Route[] = versioned([
  ...workspaceLockRoutes,
  ...stateVersionRoutes,
  ...stateOutputRoutes,
  ...remoteStateConsumerRoutes,
  ...workspaceResourceRoutes,
  ...phaseContentRoutes,
]);
