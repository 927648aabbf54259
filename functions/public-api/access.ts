import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { agentPoolRoutes } from '#resources/agents/routes.ts';
import { auditConfigurationRoutes } from '#resources/audit/configuration-routes.ts';
import { auditTrailRoutes } from '#resources/audit/routes.ts';
import { organizationTokenRoutes } from '#resources/organizations/token-routes.ts';
import { tokenTtlRoutes } from '#resources/organizations/token-ttl-routes.ts';
import { scimConfigurationRoutes } from '#resources/scim/configuration-routes.ts';
import { accessReportRoutes } from '#resources/teams/access/report-routes.ts';
import { teamAccessRoutes } from '#resources/teams/access/team-access-routes.ts';
import { teamMemberRoutes } from '#resources/teams/member-routes.ts';
import { teamRoutes } from '#resources/teams/routes.ts';
import { teamTokenRoutes } from '#resources/teams/token-routes.ts';
import { accountRoutes } from '#resources/users/account-routes.ts';
import { identityRoutes } from '#resources/users/identity-routes.ts';
import { membershipRoutes } from '#resources/users/membership-routes.ts';
import { tokenRoutes } from '#resources/users/token-routes.ts';
import { authority } from './authority.ts';

/**
 * Accounts, tokens, memberships, teams and their access, SCIM configurations, agent pools, the audit trail.
 */
export const routes: Route[] = versioned([
  ...accountRoutes,
  ...identityRoutes,
  ...tokenRoutes,
  ...organizationTokenRoutes,
  ...tokenTtlRoutes,
  ...membershipRoutes,
  ...teamRoutes,
  ...teamMemberRoutes,
  ...teamAccessRoutes,
  ...accessReportRoutes,
  ...teamTokenRoutes,
  ...scimConfigurationRoutes,
  ...agentPoolRoutes,
  ...auditConfigurationRoutes,
  ...auditTrailRoutes,
]);

export const handler = serve(routes, authority);
