import type { Route } from '../../route.ts';
import { loginRoutes } from './login.ts';
import { oauthTokenRoutes } from './oauth-token.ts';
import { signInRoutes } from './sign-in.ts';

/** What the function SignIn answers: how people, and their Terraform, come by a token. */
export const waysIn: Route[] = [...loginRoutes, ...signInRoutes, ...oauthTokenRoutes];
