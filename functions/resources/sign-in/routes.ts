import * as v from 'valibot';
import { type Answer, json, redirect } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import type { SignInSettings } from '#platform/environment.ts';
import { createLoginCode } from '#resources/users/login-codes.ts';
import type { Person } from '#resources/users/person.ts';
import { type Attempt, beginAttempt, cookieName, forgottenCookie, readAttempt } from './attempt.ts';
import { authorizationRequest, redirectUriOf } from './authorization-request.ts';
import { SignInError } from './errors.ts';
import { authorizationUrl, personFrom } from './issuer.ts';
import { failurePage } from './pages/failure.ts';
import { consentPage } from './pages/login.ts';
import { checkPerson } from './people.ts';
import { issuerName, issuerSettings } from './settings.ts';

/**
 * Sign-in at the operator's issuer. `terraform login` and the web page are both clients that receive a code and
 * exchange it for a token at /oauth/token, so that no URL contains a token. A second flow of the same kind, with its
 * own state, nonce and verifier, connects this platform and the issuer.
 */

/** Tells the web page whether to offer sign-in. */
const answerSettings = async (): Promise<Answer> => {
  const settings = issuerSettings();
  return json(200, { name: settings ? issuerName(settings) : null }, 'application/json');
};

/** URL of this platform in the browser; a proxy in front of it may use another host and path. */
const homeOf = ({ baseUrl }: ApiRequest): string => issuerSettings()?.baseUrl ?? baseUrl;

const isSecure = (request: ApiRequest): boolean => homeOf(request).startsWith('https:');

/** Operators register this URL at the issuer. */
const callbackOf = (request: ApiRequest): string => `${homeOf(request)}/oauth/callback`;

const settingsNeeded = (): SignInSettings => {
  const settings = issuerSettings();
  if (settings) return settings;
  throw new SignInError(403, 'Single sign-on is not configured on this platform. Sign in with an API token.');
};

/** Shows the reason of a failed sign-in, and ends the attempt. */
const inWords =
  (answer: (request: ApiRequest) => Promise<Answer>) =>
  async (request: ApiRequest): Promise<Answer> => {
    try {
      return await answer(request);
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      return { ...failurePage(error.status, error.message), cookies: [forgottenCookie(isSecure(request))] };
    }
  };

const begin = async (request: ApiRequest): Promise<Answer> => {
  const settings = settingsNeeded();
  const { success, output } = v.safeParse(authorizationRequest, Object.fromEntries(request.query));
  if (!success) throw new SignInError(400, 'The address is not valid. Start again at the home page.');
  const { cookie, ...attempt } = beginAttempt(output, isSecure(request));
  return { ...redirect(302, await authorizationUrl(settings, attempt, callbackOf(request))), cookies: [cookie] };
};

const attemptOf = (request: ApiRequest): Attempt => {
  const attempt = readAttempt(request.cookie(cookieName(isSecure(request))));
  // A forged response, a reload, or a second sign-in in another tab.
  if (attempt?.state !== request.query.get('state') || !attempt) {
    throw new SignInError(
      400,
      'This sign-in was started in another browser, is finished, or is older than ten minutes. Sign in again.',
    );
  }
  return attempt;
};

const end = async (request: ApiRequest): Promise<Answer> => {
  const settings = settingsNeeded();
  const attempt = attemptOf(request);
  const person = await personFrom(settings, request.query, attempt, callbackOf(request));
  checkPerson(settings, person);
  return { ...(await handOver(request, attempt, person)), cookies: [forgottenCookie(isSecure(request))] };
};

/** Returns the code to the client: to the page at once, to Terraform after the user's consent. */
const handOver = async (request: ApiRequest, { asking }: Attempt, person: Person): Promise<Answer> => {
  const redirectUri = redirectUriOf(asking);
  const grant = { by: { person }, challenge: asking.code_challenge, redirectUri, tokenExpiresAt: null };
  const code = await createLoginCode(grant);
  // In the fragment, which is never sent to a server and so in no log.
  if (asking.client_id === 'page') return redirect(303, `../app#${new URLSearchParams({ code })}`);
  const allow = `${redirectUri}?${new URLSearchParams({ code, state: asking.state })}`;
  const { host } = new URL(homeOf(request));
  return consentPage(allow, { who: person.email ?? person.username ?? person.subject, host });
};

export const signInRoutes: Route[] = [
  openRoute('GET', '/oauth/issuer', 'anyone', answerSettings),
  openRoute('GET', '/oauth/sign-in', 'anyone', inWords(begin)),
  openRoute('GET', '/oauth/callback', 'anyone', inWords(end)),
];
