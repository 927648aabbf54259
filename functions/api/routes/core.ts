import { type Route, versioned } from '../route.ts';
import { accountRoutes } from './account.ts';
import { configurationVersionRoutes } from './configuration-versions.ts';
import { discoveryRoutes, generalRoutes } from './general.ts';
import { loginRoutes } from './login.ts';
import { organizationRoutes } from './organizations.ts';
import { phaseContentRoutes } from './phase-content.ts';
import { planRoutes } from './plans.ts';
import { projectTagRoutes } from './project-tags.ts';
import { projectRoutes } from './projects.ts';
import { remoteStateConsumerRoutes } from './remote-state-consumers.ts';
import { runActionRoutes } from './run-actions.ts';
import { runEventRoutes } from './run-events.ts';
import { runTriggerRoutes } from './run-triggers.ts';
import { runRoutes } from './runs.ts';
import { stateOutputRoutes } from './state-outputs.ts';
import { stateVersionRoutes } from './state-versions.ts';
import { variableRoutes } from './variables.ts';
import { workspaceLockRoutes } from './workspace-locks.ts';
import { workspaceResourceRoutes } from './workspace-resources.ts';
import { workspaceTagRoutes } from './workspace-tags.ts';
import { workspaceRoutes } from './workspaces.ts';

/** What the function Api answers. */
export const coreRoutes: Route[] = [
  ...discoveryRoutes,
  ...loginRoutes,
  ...versioned([
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
    ...configurationVersionRoutes,
    ...runRoutes,
    ...runActionRoutes,
    ...runEventRoutes,
    ...runTriggerRoutes,
    ...planRoutes,
    ...phaseContentRoutes,
    ...stateVersionRoutes,
    ...stateOutputRoutes,
  ]),
];
