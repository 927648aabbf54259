import { loginRoutes } from '../../people/sign-in/login-routes.ts';
import { oauthTokenRoutes } from '../../people/sign-in/oauth-token-routes.ts';
import { signInRoutes } from '../../people/sign-in/routes.ts';
import type { Route } from '../route.ts';

/** What the function SignIn answers: how people, and their Terraform, come by a token. */
export const allSignInRoutes: Route[] = [...loginRoutes, ...signInRoutes, ...oauthTokenRoutes];
