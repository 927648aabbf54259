import { type Route, versioned } from '../route.ts';
import { accountRoutes } from './account.ts';
import { auditTrailRoutes } from './audit-trail.ts';
import { loginRoutes } from './login.ts';
import { membershipRoutes } from './memberships.ts';
import { oauthTokenRoutes } from './oauth-token.ts';
import { organizationRoutes } from './organizations.ts';
import { projectTagRoutes } from './project-tags.ts';
import { projectRoutes } from './projects.ts';
import { signInRoutes } from './sign-in.ts';
import { teamAccessRoutes } from './team-access.ts';
import { teamMemberRoutes } from './team-members.ts';
import { teamRoutes } from './teams.ts';

/** What the function Access answers: who there is, what belongs to whom, and how people get in. */
export const accessRoutes: Route[] = [
  ...loginRoutes,
  ...signInRoutes,
  ...oauthTokenRoutes,
  ...versioned([
    ...accountRoutes,
    ...organizationRoutes,
    ...projectRoutes,
    ...projectTagRoutes,
    ...membershipRoutes,
    ...teamRoutes,
    ...teamMemberRoutes,
    ...teamAccessRoutes,
    ...auditTrailRoutes,
  ]),
];
