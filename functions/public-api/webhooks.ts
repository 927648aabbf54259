import { serve } from '../api/serve.ts';
import { webhookRoutes } from '../version-control/webhook-routes.ts';
import { authority } from './authority.ts';

/** What forges tell of repositories. */
export const handler = serve(webhookRoutes, authority, { counts: 'refused requests' });
