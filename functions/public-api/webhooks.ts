import type { Route } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { appWebhookRoutes } from '#version-control/github-app/webhook-route.ts';
import { webhookRoutes } from '#version-control/webhook-routes.ts';
import { authority } from './authority.ts';

/** One address per repository, and one for the GitHub App. */
export const routes: Route[] = [...appWebhookRoutes, ...webhookRoutes];

export const handler = serve(routes, authority, { counts: 'refused requests' });
