import { createHash, randomBytes } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { OidcSettings, SignInSettings } from '#platform/environment.ts';
import { type Answered, eventOf } from '#test/support/api.ts';
import type { Issuer } from '#test/support/issuer.ts';

/** The functions' side of a sign-in, as a browser sees it. */

export const callback = 'https://api.example.test/oauth/callback';

export const configure = (
  settings: (Partial<Omit<SignInSettings, 'oidc'>> & Partial<OidcSettings>) | undefined,
  { url, clientId, clientSecret }: Issuer,
): void => {
  const { emailDomains = [], trustEmails = false, baseUrl, ...oidc } = settings ?? {};
  const standard = { issuer: url, clientId, clientSecret, name: 'Example', scopes: 'openid email profile groups' };
  const chosen: SignInSettings = { emailDomains, trustEmails, baseUrl, oidc: { ...standard, ...oidc } };
  process.env.SIGN_IN = settings ? JSON.stringify(chosen) : '';
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
};

export interface Seen {
  status: number;
  location: string;
  text: string;
  cookies: string[];
}

/** A browser's tab with its verifier. */
export class Browser {
  readonly verifier = randomBytes(32).toString('base64url');
  cookie = '';

  async open(
    path: string,
    {
      method = 'GET',
      body,
      token = null,
    }: { method?: string; body?: Record<string, string>; token?: string | null } = {},
  ): Promise<Seen> {
    const { handler } = await (path.startsWith('/users/saml/')
      ? import('#public-api/saml.ts')
      : import('#public-api/sign-in.ts'));
    const text = body && new URLSearchParams(body).toString();
    const event = {
      ...eventOf(method, path, { token, body: text, base64: true }),
      cookies: this.cookie ? [this.cookie] : [],
    };
    const answer = (await handler(event, {} as Context)) as APIGatewayProxyStructuredResultV2;
    const cookies = answer.cookies ?? [];
    for (const set of cookies) this.cookie = set.includes('Max-Age=0') ? '' : (set.split(';')[0] ?? '');
    return {
      status: answer.statusCode ?? 0,
      location: String(answer.headers?.location ?? ''),
      text: answer.body ?? '',
      cookies,
    };
  }

  get challenge(): string {
    return createHash('sha256').update(this.verifier).digest('base64url');
  }

  /** Begins like the page, unless `parameters` differ. */
  begin(parameters: Record<string, string> = { client_id: 'page' }): Promise<Seen> {
    const all = { ...parameters, code_challenge: this.challenge, code_challenge_method: 'S256' };
    return this.open(`/oauth/sign-in?${new URLSearchParams(all)}`);
  }

  /** Returns from the issuer. */
  come(at: URL): Promise<Seen> {
    return this.open(`${at.pathname}${at.search}`);
  }

  async exchange(
    code: string,
    { redirectUri = 'page', token }: { redirectUri?: string; token?: string } = {},
  ): Promise<Answered> {
    const body = { grant_type: 'authorization_code', code, code_verifier: this.verifier, redirect_uri: redirectUri };
    const { status, text } = await this.open('/oauth/token', { method: 'POST', body, token });
    return { status, headers: {}, body: JSON.parse(text) };
  }

  /** The complete sign-in. @returns response of the exchange */
  async signIn(issuer: Issuer, token?: string): Promise<Answered> {
    const came = await this.come(await issuer.visit((await this.begin()).location));
    if (came.status !== 303) throw new Error(`${came.status} ${came.text}`);
    return this.exchange(codeIn(came.location), { token });
  }
}

/** The code in the page's address. */
export const codeIn = (location: string): string => new URLSearchParams(location.split('#')[1]).get('code') ?? '';
