import type { Route } from '#api/route.ts';
import { appWebhookRoutes } from '#version-control/github-app/webhook-route.ts';
import { webhookRoutes } from '#version-control/webhook-routes.ts';

/** What the function Webhooks answers: one address for each repository, and one for the GitHub App. */
export const allWebhookRoutes: Route[] = [...appWebhookRoutes, ...webhookRoutes];
