import { type Route, versioned } from '../api/route.ts';
import { adminRoutes } from '../organizations/admin-routes.ts';
import { organizationRoutes } from '../organizations/routes.ts';
import { subscriptionRoutes } from '../organizations/subscription-routes.ts';
import { bannerRoutes } from '../people/banners/routes.ts';
import { projectRoutes } from '../projects/routes.ts';
import { projectTagRoutes } from '../projects/tag-routes.ts';
import { deleteProject } from '../removal/projects.ts';
import { mayFollow } from '../version-control/vcs-repo.ts';
import { inheritFromProject } from '../workspaces/execution-modes.ts';
import { inheritAutoDestroy } from '../workspaces/inherited-auto-destroy.ts';
import { hasWorkspacesIn } from '../workspaces/lists.ts';
import { workspaceMoveRoutes } from '../workspaces/move-routes.ts';

/** What the function Organizations answers: organizations, projects and which workspaces they have, and what the operator of the platform does. */
export const allOrganizationRoutes: Route[] = versioned([
  ...organizationRoutes,
  ...subscriptionRoutes,
  ...adminRoutes,
  ...bannerRoutes,
  ...projectRoutes({
    carry: inheritFromProject,
    carryAutoDestroy: inheritAutoDestroy,
    hasWorkspaces: hasWorkspacesIn,
    deleteProject,
  }),
  ...workspaceMoveRoutes(mayFollow),
  ...projectTagRoutes,
]);
