import type { Route } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { loginRoutes } from '#resources/sign-in/login-routes.ts';
import { oauthTokenRoutes } from '#resources/sign-in/oauth-token-routes.ts';
import { oidcRoutes } from '#resources/sign-in/oidc/routes.ts';
import { authority } from './authority.ts';

/** Tokens for users and their Terraform. */
export const routes: Route[] = [...loginRoutes, ...oidcRoutes, ...oauthTokenRoutes];

export const handler = serve(routes, authority);
