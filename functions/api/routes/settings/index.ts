import { type Route, versioned } from '../../route.ts';
import { notificationRoutes } from './notifications.ts';
import { runTriggerRoutes } from './run-triggers.ts';
import { variableSetRoutes } from './variable-sets.ts';
import { variableOfSetRoutes, variableRoutes } from './variables.ts';
import { workspaceTagRoutes } from './workspace-tags.ts';
import { workspaceSettingRoutes } from './workspaces.ts';

/** What the function Settings answers: workspaces as they come, change and go, variables and sets of them, tags, which workspace's applies start runs, and who is told of them. */
export const settingRoutes: Route[] = versioned([
  ...workspaceSettingRoutes,
  ...variableSetRoutes,
  ...variableRoutes,
  ...variableOfSetRoutes,
  ...workspaceTagRoutes,
  ...runTriggerRoutes,
  ...notificationRoutes,
]);
