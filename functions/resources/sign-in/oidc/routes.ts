import { type Answer, redirect } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import type { OidcSettings } from '#platform/environment.ts';
import { type Attempt, beginAttempt, cookieName, readAttempt } from '../attempt.ts';
import { SignInError } from '../errors.ts';
import { handOver, homeOf, inWords, isSecure, requestIn } from '../hand-over.ts';
import { checkPerson } from '../people.ts';
import { authorizationUrl, personFrom } from './issuer.ts';
import { issuerName, issuerSettings } from './settings.ts';

/**
 * Sign-in at the operator's OpenID Connect issuer: a flow like the one between client and platform, with its own state,
 * nonce and verifier, connects this platform and the issuer.
 */

/** Operators register this URL at the issuer. */
const callbackOf = (request: ApiRequest): string => `${homeOf(request)}/oauth/callback`;

const settingsNeeded = (): OidcSettings => {
  const settings = issuerSettings();
  if (settings) return settings;
  throw new SignInError(403, 'Single sign-on is not configured on this platform. Sign in with an API token.');
};

const begin = async (request: ApiRequest): Promise<Answer> => {
  const settings = settingsNeeded();
  const { cookie, ...attempt } = beginAttempt(requestIn(request), { secure: isSecure(request), sameSite: 'Lax' });
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
  checkPerson(person, issuerName(settings));
  return handOver(request, attempt, person);
};

export const oidcRoutes: Route[] = [
  openRoute('GET', '/oauth/sign-in', 'anyone', inWords(begin)),
  openRoute('GET', '/oauth/callback', 'anyone', inWords(end)),
];
