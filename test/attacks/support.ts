import { createHash, randomBytes } from 'node:crypto';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { type Account, type Issuer, startIssuer } from '#test/support/issuer.ts';
import { undoAfterFile } from '#test/support/undo.ts';

/** Attackers and victims: a platform with an issuer at which any user can sign in, called from outside. */

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
type Json = any;

export interface Answered {
  status: number;
  body: Json;
}

interface Redemption {
  token?: string;
  redirectUri?: string;
}

export interface Person {
  id: string;
  token: string;
  account: Account;
}

let names = 0;
export const uniqueName = (prefix: string): string => `${prefix}-${process.pid}-${++names}`;

/** With an issuer on this machine that includes `groups`. */
export class Scene {
  readonly issuer: Issuer;
  readonly platform: PlatformProcess;

  private constructor(issuer: Issuer, platform: PlatformProcess) {
    this.issuer = issuer;
    this.platform = platform;
  }

  static async open(settings: Record<string, string> = {}): Promise<Scene> {
    const issuer = await startIssuer();
    const platform = await PlatformProcess.start({
      STEPFORM_SIGN_IN_ISSUER: issuer.url,
      STEPFORM_SIGN_IN_CLIENT_ID: issuer.clientId,
      STEPFORM_SIGN_IN_CLIENT_SECRET: issuer.clientSecret,
      STEPFORM_SIGN_IN_GROUPS_CLAIM: 'groups',
      STEPFORM_SIGN_IN_SCOPES: 'openid email profile groups',
      ...settings,
    });
    issuer.trust(`${platform.local.url}/oauth/callback`);
    const scene = new Scene(issuer, platform);
    undoAfterFile(() => scene.close());
    return scene;
  }

  async close(): Promise<void> {
    await this.platform.remove();
    await this.issuer.close();
  }

  /** Id of the operator's own organization. */
  get owner(): string {
    return this.platform.local.token;
  }

  get organization(): string {
    return this.platform.local.organization;
  }

  async call(token: string, method: string, path: string, body?: unknown): Promise<Answered> {
    const answer = await fetch(`${this.platform.local.url}/api/v2/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/vnd.api+json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  }

  get(token: string, path: string): Promise<Answered> {
    return this.call(token, 'GET', path);
  }

  post(token: string, path: string, attributes: object, relationships?: object): Promise<Answered> {
    return this.call(token, 'POST', path, { data: { attributes, relationships } });
  }

  /**
   * Makes a request that must succeed for the attack to be one.
   * @returns its resource
   */
  async must(token: string, method: string, path: string, body?: unknown): Promise<Json> {
    const { status, body: shown } = await this.call(token, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(shown)}`);
    return shown?.data;
  }

  /** The browser's redirects through the issuer, up to the page's code. */
  async code(account: Account): Promise<{ code: string; verifier: string }> {
    const { url } = this.platform.local;
    this.issuer.account = account;
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const parameters = { client_id: 'page', code_challenge: challenge, code_challenge_method: 'S256' };
    const begun = await fetch(`${url}/oauth/sign-in?${new URLSearchParams(parameters)}`, { redirect: 'manual' });
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const back = await this.issuer.visit(begun.headers.get('location') ?? '');
    const came = await fetch(back, { redirect: 'manual', headers: { cookie } });
    const code = new URLSearchParams(came.headers.get('location')?.split('#')[1]).get('code') ?? '';
    return { code, verifier };
  }

  /** @param token of the user who connects the identity, if it is to be connected */
  async redeem(code: string, verifier: string, { token, redirectUri = 'page' }: Redemption = {}): Promise<Answered> {
    const answer = await fetch(`${this.platform.local.url}/oauth/token`, {
      method: 'POST',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        code_verifier: verifier,
        redirect_uri: redirectUri,
      }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  /** The browser's complete sign-in at the issuer, with a token if an identity is to be connected. */
  async exchange(account: Account, token?: string): Promise<Answered> {
    const { code, verifier } = await this.code(account);
    return this.redeem(code, verifier, { token });
  }

  async signIn(account: Partial<Account> = {}): Promise<Person> {
    const sub = account.sub ?? uniqueName('person');
    const whole = { sub, email: `${sub}@example.test`, email_verified: true, ...account };
    const { status, body } = await this.exchange(whole);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    const { id } = await this.must(body.access_token, 'GET', 'account/details');
    return { id, token: body.access_token, account: whole };
  }

  async workspace(token: string, organization: string): Promise<Json> {
    const attributes = { name: uniqueName('ws') };
    return this.must(token, 'POST', `organizations/${organization}/workspaces`, { data: { attributes } });
  }

  async team(token: string, attributes: object = {}, organization = this.organization): Promise<Json> {
    const named = { name: uniqueName('team'), ...attributes };
    return this.must(token, 'POST', `organizations/${organization}/teams`, { data: { attributes: named } });
  }

  async organizationOf(token: string, attributes: object = {}): Promise<string> {
    const name = uniqueName('org');
    const named = { name, email: 'o@example.test', ...attributes };
    await this.must(token, 'POST', 'organizations', { data: { attributes: named } });
    return name;
  }

  /** Adds a user to the operator's organization. */
  async invite(
    email: string,
    teamIds: string[] = [],
    token = this.owner,
    organization = this.organization,
  ): Promise<Json> {
    return this.must(token, 'POST', `organizations/${organization}/organization-memberships`, {
      data: {
        attributes: { email },
        relationships: { teams: { data: teamIds.map((id) => ({ type: 'teams', id })) } },
      },
    });
  }
}
