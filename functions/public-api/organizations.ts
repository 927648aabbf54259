import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { deleteOrganization } from '#removal/organizations.ts';
import { deleteProject } from '#removal/projects.ts';
import { adminRoutes } from '#resources/organizations/admin-routes.ts';
import { bannerRoutes } from '#resources/organizations/banners/routes.ts';
import { organizationRoutes } from '#resources/organizations/routes.ts';
import { subscriptionRoutes } from '#resources/organizations/subscription-routes.ts';
import { projectRoutes } from '#resources/projects/routes.ts';
import { projectTagRoutes } from '#resources/projects/tag-routes.ts';
import { inheritFromProject } from '#resources/workspaces/execution-modes.ts';
import { inheritAutoDestroy } from '#resources/workspaces/inherited-auto-destroy.ts';
import { hasWorkspacesIn } from '#resources/workspaces/lists.ts';
import { workspaceMoveRoutes } from '#resources/workspaces/move-routes.ts';
import { mayFollow } from '#version-control/vcs-repo.ts';
import { authority } from './authority.ts';

/** Organizations, projects and their workspaces, and the operator's routes. */
export const routes: Route[] = versioned([
  ...organizationRoutes({ deleteOrganization }),
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

export const handler = serve(routes, authority);
