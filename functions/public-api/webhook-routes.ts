import type { Route } from '#api/route.ts';
import { appWebhookRoutes } from '#version-control/github-app/webhook-route.ts';
import { webhookRoutes } from '#version-control/webhook-routes.ts';

/** Routes of the function Webhooks: one address per repository, and one for the GitHub App. */
export const allWebhookRoutes: Route[] = [...appWebhookRoutes, ...webhookRoutes];
