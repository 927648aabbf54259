import { type Answer, redirect } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import type { OidcSettings } from '#platform/environment.ts';
import { beginAttempt, cookieName, forgottenCookie, readAttempt } from '#resources/sign-in/attempt.ts';
import { redirectUriOf } from '#resources/sign-in/authorization-request.ts';
import { SignInError } from '#resources/sign-in/errors.ts';
import { homeOf, inWords, isSecure, requestIn, upFrom } from '#resources/sign-in/hand-over.ts';
import { authorizationUrl, claimsFrom } from '#resources/sign-in/oidc/issuer.ts';
import { createLoginCode } from '#resources/users/login-codes.ts';
import { callbackPath } from './app-routes.ts';
import { findSlackApp, openClientSecret, type SlackApp } from './records.ts';

/**
 * Proof of a Slack account by Sign in with Slack (OpenID Connect). The user begins on the page, and the page alone can
 * complete the link: it keeps the verifier of the code, and its session names the user (link-routes.ts).
 */

const appIn = async ({ params }: ApiRequest): Promise<SlackApp> => {
  const app = await findSlackApp(params.slackApp ?? '');
  if (!app) throw notFound('Slack app not found.');
  return app;
};

const settingsOf = async (app: SlackApp): Promise<OidcSettings> => ({
  issuer: app.url,
  clientId: app.clientId,
  clientSecret: await openClientSecret(app),
  name: 'Slack',
  scopes: 'openid',
});

const redirectUri = (request: ApiRequest, { id }: SlackApp): string => `${homeOf(request)}${callbackPath(id)}`;

const begin = async (request: ApiRequest): Promise<Answer> => {
  const app = await appIn(request);
  const asking = requestIn(request);
  if (asking.client_id !== 'page') throw new SignInError(400, 'Connect Slack on the page, under Tokens.');
  const { cookie, ...attempt } = beginAttempt(asking, { secure: isSecure(request), sameSite: 'Lax' });
  const to = await authorizationUrl(await settingsOf(app), attempt, redirectUri(request, app));
  return { ...redirect(302, to), cookies: [cookie] };
};

/** Claims of Slack (Slack: Sign in with Slack, openid.connect.token). */
const teamClaim = 'https://slack.com/team_id';
const userClaim = 'https://slack.com/user_id';

const end = async (request: ApiRequest): Promise<Answer> => {
  const app = await appIn(request);
  const attempt = readAttempt(request.cookie(cookieName(isSecure(request))));
  if (!attempt || attempt.state !== request.query.get('state')) {
    throw new SignInError(
      400,
      'This connection was started in another browser, is finished, or is older than ten minutes. Connect Slack again.',
    );
  }
  const claims = await claimsFrom(await settingsOf(app), request.query, attempt, redirectUri(request, app));
  const [teamId, userId] = [claims[teamClaim], claims[userClaim]];
  if (typeof userId !== 'string' || userId === '') throw new SignInError(502, 'Slack did not send the id of the user.');
  if (teamId !== app.teamId) {
    throw new SignInError(
      403,
      `You signed in to another Slack workspace. Sign in to ${app.teamId}, the workspace of this organization.`,
    );
  }
  const code = await createLoginCode({
    by: { slack: { appId: app.id, teamId: app.teamId, userId } },
    challenge: attempt.asking.code_challenge,
    redirectUri: redirectUriOf(attempt.asking),
    tokenExpiresAt: null,
  });
  return {
    ...redirect(303, `${upFrom(request)}app#${new URLSearchParams({ code })}`),
    cookies: [forgottenCookie(isSecure(request))],
  };
};

export const slackConnectRoutes: Route[] = [
  openRoute('GET', '/slack/{slackApp}/connect', 'anyone', inWords(begin)),
  openRoute('GET', '/slack/{slackApp}/callback', 'anyone', inWords(end)),
];
