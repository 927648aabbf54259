import * as v from 'valibot';
import { type Answer, redirect } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { createLoginCode } from '#resources/users/login-codes.ts';
import { findToken } from '#resources/users/tokens.ts';
import { terraformRequest } from './authorization-request.ts';
import { askPage, refusalPage } from './pages/login.ts';
import { answerWays, offeredWays } from './ways.ts';

/**
 * `terraform login`: OAuth 2.0's authorization code with PKCE (RFC 6749 §4.1, RFC 7636). A user who pastes a token on
 * the page, or signs in at an identity provider, gets a new token for Terraform (oauth-token-routes.ts). Consent does not
 * rely on cookies, which rules out cross-site request forgery.
 */

const read = (parameters: URLSearchParams) => v.safeParse(terraformRequest, Object.fromEntries(parameters));

const refusal = (issues: v.BaseIssue<unknown>[]): Answer => {
  const name = issues[0] && v.getDotPath(issues[0]);
  return refusalPage(`The address of this page is not from terraform login: its ${name} is missing or wrong.`);
};

const shown = async (baseUrl: string) => ({ host: new URL(baseUrl).host, ways: await offeredWays() });

const ask = async ({ query, baseUrl }: ApiRequest): Promise<Answer> => {
  const { success, output, issues } = read(query);
  if (!success) return refusal(issues);
  return askPage(output, { ...(await shown(baseUrl)), redirectUri: output.redirect_uri, refused: false });
};

const allow = async ({ form, baseUrl }: ApiRequest): Promise<Answer> => {
  const sent = form();
  const { success, output, issues } = read(sent);
  if (!success) return refusal(issues);
  const { redirect_uri: redirectUri, code_challenge: challenge, state } = output;
  const token = await findToken((sent.get('token') ?? '').trim());
  if (!token || !['user', 'session'].includes(token.kind))
    return askPage(output, { ...(await shown(baseUrl)), redirectUri, refused: true });
  const grant = { by: { userId: token.userId }, challenge, redirectUri, tokenExpiresAt: token.expiredAt };
  const code = await createLoginCode(grant);
  return redirect(303, `${redirectUri}?${new URLSearchParams({ code, state })}`);
};

export const loginRoutes: Route[] = [
  openRoute('GET', '/oauth/ways', 'anyone', answerWays),
  openRoute('GET', '/oauth/authorization', 'anyone', ask),
  openRoute('POST', '/oauth/authorization', 'anyone', allow),
];
