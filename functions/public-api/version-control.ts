import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { noCodeProvisioning } from '#features/no-code/provisioning.ts';
import { accountRoutes } from '#version-control/account-routes.ts';
import { vcsEventRoutes } from '#version-control/event-routes.ts';
import { appCallbackRoutes } from '#version-control/github-app/authorization.ts';
import { githubAppRoutes } from '#version-control/github-app/routes.ts';
import { hookRoutes } from '#version-control/hook-routes.ts';
import { moduleRepositoryRoutes } from '#version-control/module-routes.ts';
import { callbackRoutes, oauthFlowRoutes } from '#version-control/oauth-flow.ts';
import { repositoryRoutes } from '#version-control/repository-routes.ts';
import { connectionRoutes } from '#version-control/routes.ts';
import { authority } from './authority.ts';

/** Connections, their repositories, and results of webhooks. */
export const routes: Route[] = [
  ...versioned([
    ...connectionRoutes,
    ...repositoryRoutes,
    ...oauthFlowRoutes,
    ...vcsEventRoutes,
    ...hookRoutes,
    ...accountRoutes,
    ...moduleRepositoryRoutes(noCodeProvisioning),
    ...githubAppRoutes,
  ]),
  ...appCallbackRoutes,
  ...callbackRoutes,
];

export const handler = serve(routes, authority);
