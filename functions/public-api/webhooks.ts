import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { allWebhookRoutes } from './webhook-routes.ts';

/** Webhooks of forges about repositories. */
export const handler = serve(allWebhookRoutes, authority, { counts: 'refused requests' });
