import type { Route } from '../route.ts';
import { accountRoutes } from './account.ts';
import { configurationVersionRoutes } from './configuration-versions.ts';
import { costEstimateRoutes } from './cost-estimates.ts';
import { discoveryRoutes, generalRoutes } from './general.ts';
import { loginRoutes } from './login.ts';
import { organizationRoutes } from './organizations.ts';
import { phaseContentRoutes } from './phase-content.ts';
import { planRoutes } from './plans.ts';
import { policyRoutes } from './policies.ts';
import { policyResultRoutes } from './policy-results.ts';
import { policySetVersionRoutes } from './policy-set-versions.ts';
import { policySetRoutes } from './policy-sets.ts';
import { projectTagRoutes } from './project-tags.ts';
import { projectRoutes } from './projects.ts';
import { remoteStateConsumerRoutes } from './remote-state-consumers.ts';
import { runActionRoutes } from './run-actions.ts';
import { runEventRoutes } from './run-events.ts';
import { runTriggerRoutes } from './run-triggers.ts';
import { runRoutes } from './runs.ts';
import { stateOutputRoutes } from './state-outputs.ts';
import { stateVersionRoutes } from './state-versions.ts';
import { taskCallbackRoutes } from './task-callbacks.ts';
import { taskStageRoutes } from './task-stages.ts';
import { taskRoutes } from './tasks.ts';
import { variableSetRoutes } from './variable-sets.ts';
import { variableRoutes } from './variables.ts';
import { workspaceLockRoutes } from './workspace-locks.ts';
import { workspaceResourceRoutes } from './workspace-resources.ts';
import { workspaceTagRoutes } from './workspace-tags.ts';
import { workspaceRoutes } from './workspaces.ts';

const prefix = '/api/v2';

/** Every route of the public API, by full path. */
export const routes: Route[] = [
  ...discoveryRoutes,
  ...loginRoutes,
  ...[
    ...generalRoutes,
    ...accountRoutes,
    ...organizationRoutes,
    ...projectRoutes,
    ...projectTagRoutes,
    ...workspaceRoutes,
    ...workspaceLockRoutes,
    ...workspaceTagRoutes,
    ...remoteStateConsumerRoutes,
    ...workspaceResourceRoutes,
    ...variableRoutes,
    ...variableSetRoutes,
    ...policyRoutes,
    ...policyResultRoutes,
    ...policySetRoutes,
    ...policySetVersionRoutes,
    ...configurationVersionRoutes,
    ...runRoutes,
    ...runActionRoutes,
    ...runEventRoutes,
    ...runTriggerRoutes,
    ...taskRoutes,
    ...taskStageRoutes,
    ...taskCallbackRoutes,
    ...planRoutes,
    ...costEstimateRoutes,
    ...phaseContentRoutes,
    ...stateVersionRoutes,
    ...stateOutputRoutes,
  ].map((route): Route => ({ ...route, path: `${prefix}${route.path}` })),
];
