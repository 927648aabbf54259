/** A real OpenID provider (npm oidc-provider) on this machine, with a user who signs in at it. */
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider from 'oidc-provider';
import { serve } from './serve.ts';

export interface Account {
  sub: string;
  email?: string;
  email_verified?: boolean;
  preferred_username?: string;
  groups?: string[];
  /** Claims of the issuer's own. */
  own?: Record<string, string>;
}

export interface Issuer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The user at the browser; undefined for a user who cancels. */
  account: Account | undefined;
  /** Allows a redirect URI; none is allowed before. */
  trust(redirectUri: string): void;
  /** Follows the platform's redirect like a browser; returns the URL to which the issuer redirects back. */
  visit(address: string): Promise<URL>;
  close(): Promise<void>;
}

const key = {
  ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
  use: 'sig',
  kid: 'k1',
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

interface Context {
  oidc: { session: { accountId: string }; client: { clientId: string }; provider: Provider };
}

/** Grants all requested scopes without a consent page. */
const grantAll = async ({ oidc }: Context) => {
  const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
  grant.addOIDCScope('openid email profile groups');
  await grant.save();
  return grant;
};

const clientId = 'stepform';
const clientSecret = 'secret of the client, long enough';

interface Special {
  /** Names of {@link Account.own}, in ID tokens. */
  claims: string[];
  /** Serves other paths at the same address. True when it did. */
  serves(request: IncomingMessage, response: ServerResponse): boolean;
}

export const startIssuer = async (special?: Special): Promise<Issuer> => {
  let handle: Handler = () => {};
  const server = await serve((request, response) => special?.serves(request, response) || handle(request, response));
  const { url } = server;
  const issuer: Issuer = {
    url,
    clientId,
    clientSecret,
    account: undefined,
    trust: (redirectUri) => {
      handle = handlerOf(issuer, redirectUri, special?.claims);
    },
    visit: (address) => visit(address, url),
    close: server.close,
  };
  return issuer;
};

const handlerOf = (issuer: Issuer, redirectUri: string, own?: string[]): Handler => {
  const provider = new Provider(issuer.url, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [key] },
    cookies: { keys: ['of a test'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    ...(own ? { conformIdTokenClaims: false } : {}),
    claims: {
      ...(own ? { openid: ['sub', ...own] } : {}),
      email: ['email', 'email_verified'],
      profile: ['preferred_username'],
      groups: ['groups'],
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: async (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ ...issuer.account, ...issuer.account?.own, sub: id }),
    }),
    loadExistingGrant: grantAll,
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  });
  const callback = provider.callback();
  return (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return callback(request, response);
    const { account } = issuer;
    const result = account
      ? { login: { accountId: account.sub } }
      : { error: 'access_denied', error_description: 'called off' };
    provider.interactionFinished(request, response, result).catch((error: Error) => response.destroy(error));
  };
};

/** Follows redirects with cookies, like a fresh browser, until they leave the issuer. */
const visit = async (address: string, origin: string): Promise<URL> => {
  const cookies = new Map<string, string>();
  for (let at = new URL(address), steps = 0; steps < 10; steps++) {
    if (at.origin !== origin) return at;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`${at.href} answers ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
    at = new URL(location, at);
  }
  throw new Error(`${address} does not end`);
};
