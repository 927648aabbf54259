import { teamAccessRoutes } from '../access/team-access-routes.ts';
import { agentPoolRoutes } from '../agents/routes.ts';
import { type Route, versioned } from '../api/route.ts';
import { auditTrailRoutes } from '../audit/routes.ts';
import { adminRoutes } from '../organizations/admin-routes.ts';
import { organizationRoutes } from '../organizations/routes.ts';
import { subscriptionRoutes } from '../organizations/subscription-routes.ts';
import { accountRoutes } from '../people/accounts/account-routes.ts';
import { identityRoutes } from '../people/accounts/identity-routes.ts';
import { membershipRoutes } from '../people/accounts/membership-routes.ts';
import { tokenRoutes } from '../people/accounts/token-routes.ts';
import { organizationTokenRoutes } from '../people/organizations/token-routes.ts';
import { teamMemberRoutes } from '../people/teams/member-routes.ts';
import { teamRoutes } from '../people/teams/routes.ts';
import { teamTokenRoutes } from '../people/teams/token-routes.ts';
import { projectRoutes } from '../projects/routes.ts';
import { projectTagRoutes } from '../projects/tag-routes.ts';
import { deleteProject } from '../removal/projects.ts';
import { reservedTagKeyRoutes } from '../reserved-tag-keys/routes.ts';
import { inheritFromProject } from '../workspaces/execution-modes.ts';
import { inheritAutoDestroy } from '../workspaces/inherited-auto-destroy.ts';
import { hasWorkspacesIn } from '../workspaces/lists.ts';
import { workspaceMoveRoutes } from '../workspaces/move-routes.ts';

/** What the function Access answers: who there is, and what belongs to whom. */
export const accessRoutes: Route[] = versioned([
  ...accountRoutes,
  ...identityRoutes,
  ...tokenRoutes,
  ...organizationRoutes,
  ...subscriptionRoutes,
  ...adminRoutes,
  ...organizationTokenRoutes,
  ...projectRoutes({
    carry: inheritFromProject,
    carryAutoDestroy: inheritAutoDestroy,
    hasWorkspaces: hasWorkspacesIn,
    deleteProject,
  }),
  ...workspaceMoveRoutes,
  ...projectTagRoutes,
  ...reservedTagKeyRoutes,
  ...membershipRoutes,
  ...teamRoutes,
  ...teamMemberRoutes,
  ...teamAccessRoutes,
  ...teamTokenRoutes,
  ...agentPoolRoutes,
  ...auditTrailRoutes,
]);
