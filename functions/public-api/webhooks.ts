import { serve } from '#api/serve.ts';
import { authority } from './authority.ts';
import { allWebhookRoutes } from './webhook-routes.ts';

/** What forges tell of repositories. */
export const handler = serve(allWebhookRoutes, authority, { counts: 'refused requests' });
