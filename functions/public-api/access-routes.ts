import { teamAccessRoutes } from '../access/team-access-routes.ts';
import { agentPoolRoutes } from '../agents/routes.ts';
import { type Route, versioned } from '../api/route.ts';
import { auditTrailRoutes } from '../audit/routes.ts';
import { accountRoutes } from '../people/accounts/account-routes.ts';
import { identityRoutes } from '../people/accounts/identity-routes.ts';
import { membershipRoutes } from '../people/accounts/membership-routes.ts';
import { tokenRoutes } from '../people/accounts/token-routes.ts';
import { organizationTokenRoutes } from '../people/organizations/token-routes.ts';
import { tokenTtlRoutes } from '../people/organizations/token-ttl-routes.ts';
import { teamMemberRoutes } from '../people/teams/member-routes.ts';
import { teamRoutes } from '../people/teams/routes.ts';
import { teamTokenRoutes } from '../people/teams/token-routes.ts';

/** What the function Access answers: accounts, tokens, memberships, teams and their access, agent pools, the audit trail. */
export const accessRoutes: Route[] = versioned([
  ...accountRoutes,
  ...identityRoutes,
  ...tokenRoutes,
  ...organizationTokenRoutes,
  ...tokenTtlRoutes,
  ...membershipRoutes,
  ...teamRoutes,
  ...teamMemberRoutes,
  ...teamAccessRoutes,
  ...teamTokenRoutes,
  ...agentPoolRoutes,
  ...auditTrailRoutes,
]);
