import * as v from 'valibot';
import { createLoginCode, redeemLoginCode } from '../../store/access/login-codes.ts';
import { createToken, findToken } from '../../store/access/tokens.ts';
import { type Answer, json, redirect } from '../answer.ts';
import { askPage, refusalPage } from '../login-page.ts';
import { clientId, isTerraformHere } from '../login-service.ts';
import type { ApiRequest } from '../request.ts';
import { openRoute, type Route } from '../route.ts';

/**
 * `terraform login` (api.md §2.11): OAuth 2.0's authorization code with PKCE (RFC 6749 §4.1, RFC 7636). Whoever shows a
 * token on the page gets a new one for Terraform. Nothing here goes by cookies, so that nobody can be made to answer.
 */

const asked = v.object({
  client_id: v.literal(clientId),
  response_type: v.literal('code'),
  // Anything else could be somebody's trap for the code.
  redirect_uri: v.pipe(v.string(), v.check(isTerraformHere)),
  code_challenge: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  code_challenge_method: v.literal('S256'),
  state: v.pipe(v.string(), v.maxLength(500)),
});

const read = (parameters: URLSearchParams) => v.safeParse(asked, Object.fromEntries(parameters));

const refusal = (issues: v.BaseIssue<unknown>[]): Answer => {
  const name = issues[0] && v.getDotPath(issues[0]);
  return refusalPage(
    `The address of this page is not one that terraform login makes: its ${name} is missing or wrong.`,
  );
};

const ask = async ({ query, baseUrl }: ApiRequest): Promise<Answer> => {
  const { success, output, issues } = read(query);
  if (!success) return refusal(issues);
  return askPage(output, { host: new URL(baseUrl).host, redirectUri: output.redirect_uri, refused: false });
};

const allow = async ({ form, baseUrl }: ApiRequest): Promise<Answer> => {
  const sent = form();
  const { success, output, issues } = read(sent);
  if (!success) return refusal(issues);
  const { redirect_uri: redirectUri, code_challenge: challenge, state } = output;
  const token = await findToken((sent.get('token') ?? '').trim());
  if (!token) return askPage(output, { host: new URL(baseUrl).host, redirectUri, refused: true });
  const grant = { userId: token.userId, challenge, redirectUri, tokenExpiresAt: token.expiredAt };
  const code = await createLoginCode(grant);
  return redirect(303, `${redirectUri}?${new URLSearchParams({ code, state })}`);
};

const plainJson = 'application/json';
const failed = (error: string, description: string): Answer =>
  json(400, { error, error_description: description }, plainJson);

const exchange = async ({ form }: ApiRequest): Promise<Answer> => {
  const sent = form();
  const given = (name: string) => sent.get(name) ?? '';
  if (given('grant_type') !== 'authorization_code') {
    return failed('unsupported_grant_type', 'Only authorization_code is.');
  }
  const grant = await redeemLoginCode(given('code'), {
    verifier: given('code_verifier'),
    redirectUri: given('redirect_uri'),
  });
  if (!grant) return failed('invalid_grant', 'The code is unknown, used or too old. Run terraform login again.');
  const { secret } = await createToken(grant.userId, 'terraform login', grant.tokenExpiresAt);
  return json(200, { access_token: secret, token_type: 'bearer' }, plainJson);
};

export const loginRoutes: Route[] = [
  openRoute('GET', '/oauth/authorization', 'anyone', ask),
  openRoute('POST', '/oauth/authorization', 'anyone', allow),
  openRoute('POST', '/oauth/token', 'anyone', exchange),
];
