import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { samlRoutes } from '#resources/sign-in/saml/routes.ts';
import { samlSettingsRoutes } from '#resources/sign-in/saml/settings/routes.ts';
import { authority } from './authority.ts';

/** Sign-in with SAML, apart from the other ways: it alone reads XML. */
export const routes: Route[] = [...samlRoutes, ...versioned(samlSettingsRoutes)];

export const handler = serve(routes, authority);
