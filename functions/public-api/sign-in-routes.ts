import type { Route } from '#api/route.ts';
import { loginRoutes } from '#resources/sign-in/login-routes.ts';
import { oauthTokenRoutes } from '#resources/sign-in/oauth-token-routes.ts';
import { signInRoutes } from '#resources/sign-in/routes.ts';

/** Routes of the function SignIn: tokens for users and their Terraform. */
export const allSignInRoutes: Route[] = [...loginRoutes, ...signInRoutes, ...oauthTokenRoutes];
