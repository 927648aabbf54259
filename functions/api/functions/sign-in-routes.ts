import { loginRoutes } from '../../sign-in/login-routes.ts';
import { oauthTokenRoutes } from '../../sign-in/oauth-token-routes.ts';
import { signInRoutes } from '../../sign-in/routes.ts';
import type { Route } from '../route.ts';

/** What the function SignIn answers: how people, and their Terraform, come by a token. */
export const waysIn: Route[] = [...loginRoutes, ...signInRoutes, ...oauthTokenRoutes];
