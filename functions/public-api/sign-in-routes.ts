import type { Route } from '#api/route.ts';
import { loginRoutes } from '#resources/sign-in/login-routes.ts';
import { oauthTokenRoutes } from '#resources/sign-in/oauth-token-routes.ts';
import { signInRoutes } from '#resources/sign-in/routes.ts';

/** What the function SignIn answers: how people, and their Terraform, come by a token. */
export const allSignInRoutes: Route[] = [...loginRoutes, ...signInRoutes, ...oauthTokenRoutes];
