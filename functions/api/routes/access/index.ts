import { type Route, versioned } from '../../route.ts';
import { accountRoutes } from './account.ts';
import { agentPoolRoutes } from './agent-pools.ts';
import { auditTrailRoutes } from './audit-trail.ts';
import { identityRoutes } from './identities.ts';
import { membershipRoutes } from './memberships.ts';
import { organizationTokenRoutes } from './organization-tokens.ts';
import { organizationRoutes } from './organizations.ts';
import { projectTagRoutes } from './project-tags.ts';
import { projectRoutes } from './projects.ts';
import { teamAccessRoutes } from './team-access.ts';
import { teamMemberRoutes } from './team-members.ts';
import { teamTokenRoutes } from './team-tokens.ts';
import { teamRoutes } from './teams.ts';
import { tokenRoutes } from './tokens.ts';

/** What the function Access answers: who there is, and what belongs to whom. */
export const accessRoutes: Route[] = versioned([
  ...accountRoutes,
  ...identityRoutes,
  ...tokenRoutes,
  ...organizationRoutes,
  ...organizationTokenRoutes,
  ...projectRoutes,
  ...projectTagRoutes,
  ...membershipRoutes,
  ...teamRoutes,
  ...teamMemberRoutes,
  ...teamAccessRoutes,
  ...teamTokenRoutes,
  ...agentPoolRoutes,
  ...auditTrailRoutes,
]);
