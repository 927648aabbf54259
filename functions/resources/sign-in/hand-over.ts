import * as v from 'valibot';
import { type Answer, redirect } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { environment } from '#platform/environment.ts';
import { createLoginCode } from '#resources/users/login-codes.ts';
import type { Person } from '#resources/users/person.ts';
import { type Attempt, forgottenCookie } from './attempt.ts';
import { type AuthorizationRequest, authorizationRequest, redirectUriOf } from './authorization-request.ts';
import { SignInError } from './errors.ts';
import { failurePage } from './pages/failure.ts';
import { consentPage } from './pages/login.ts';

/**
 * Begin and end of every way to sign in. `terraform login` and the web page are both clients that receive a code and
 * exchange it for a token at /oauth/token, so that no URL contains a token.
 */

/** URL of this platform in the browser; a proxy in front of it may use another host and path. */
export const homeOf = ({ baseUrl }: ApiRequest): string => environment.signIn?.baseUrl ?? baseUrl;

export const isSecure = (request: ApiRequest): boolean => homeOf(request).startsWith('https:');

/** Path of the platform's home relative to a route, which is below the same path prefix of a proxy. */
export const upFrom = ({ path }: ApiRequest): string => '../'.repeat(path.split('/').length - 2);

/** Shows the reason of a failed sign-in, and ends the attempt. */
export const inWords =
  (answer: (request: ApiRequest) => Promise<Answer>) =>
  async (request: ApiRequest): Promise<Answer> => {
    try {
      return await answer(request);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      const page = failurePage(error, `${upFrom(request)}app`);
      return { ...page, cookies: [forgottenCookie(isSecure(request))] };
    }
  };

/**
 * The client's request in the query.
 * @throws {SignInError} 400
 */
export const requestIn = ({ query }: ApiRequest): AuthorizationRequest => {
  const { success, output } = v.safeParse(authorizationRequest, Object.fromEntries(query));
  if (!success) throw new SignInError(400, 'The address is not valid. Start again at the home page.');
  return output;
};

/** Returns the code to the client: to the page at once, to Terraform after the user's consent. Ends the attempt. */
export const handOver = async (request: ApiRequest, { asking }: Attempt, person: Person): Promise<Answer> => {
  const redirectUri = redirectUriOf(asking);
  const grant = { by: { person }, challenge: asking.code_challenge, redirectUri, tokenExpiresAt: null };
  const code = await createLoginCode(grant);
  return { ...answerWith(request, asking, code, person), cookies: [forgottenCookie(isSecure(request))] };
};

const answerWith = (request: ApiRequest, asking: AuthorizationRequest, code: string, person: Person): Answer => {
  // In the fragment, which is never sent to a server and so in no log.
  if (asking.client_id === 'page') return redirect(303, `${upFrom(request)}app#${new URLSearchParams({ code })}`);
  const allow = `${redirectUriOf(asking)}?${new URLSearchParams({ code, state: asking.state })}`;
  const { host } = new URL(homeOf(request));
  return consentPage(allow, { who: person.email ?? person.username ?? person.subject, host });
};
