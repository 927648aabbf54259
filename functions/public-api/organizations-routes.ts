import { type Route, versioned } from '../api/route.ts';
import { organizationRoutes } from '../organizations/routes.ts';
import { projectRoutes } from '../projects/routes.ts';
import { projectTagRoutes } from '../projects/tag-routes.ts';
import { deleteProject } from '../removal/projects.ts';
import { inheritFromProject } from '../workspaces/execution-modes.ts';
import { hasWorkspacesIn } from '../workspaces/lists.ts';
import { workspaceMoveRoutes } from '../workspaces/move-routes.ts';

/** What the function Organizations answers: organizations, projects and which workspaces they have. */
export const allOrganizationRoutes: Route[] = versioned([
  ...organizationRoutes,
  ...projectRoutes({ carry: inheritFromProject, hasWorkspaces: hasWorkspacesIn, deleteProject }),
  ...workspaceMoveRoutes,
  ...projectTagRoutes,
]);
