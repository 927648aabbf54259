import * as oauth from 'oauth4webapi';
import { guardedFetch } from '../outbound/fetch.ts';
import type { IssuedToken, OauthClient } from './connections.ts';
import type { Forge } from './forges/forge.ts';
import { expiryOf } from './refresh.ts';

/** A forge as an authorization server, for the authorizations that people give in a browser. */

/** Metadata by hand: nothing is discovered at an address that somebody has given. */
export const serverOf = ({ httpUrl }: Pick<OauthClient, 'httpUrl'>, forge: Forge): oauth.AuthorizationServer => ({
  issuer: httpUrl,
  authorization_endpoint: `${httpUrl}${forge.oauth.authorize}`,
  token_endpoint: `${httpUrl}${forge.oauth.token}`,
});

export const oauthOptions = ({ httpUrl }: Pick<OauthClient, 'httpUrl'>) => ({
  [oauth.customFetch]: guardedFetch as never,
  [oauth.allowInsecureRequests]: httpUrl.startsWith('http:'),
  headers: new Headers({ accept: 'application/json' }),
});

export const issuedFrom = (answer: oauth.TokenEndpointResponse): IssuedToken => ({
  token: answer.access_token,
  ...(answer.refresh_token ? { refreshToken: answer.refresh_token } : {}),
  ...(answer.expires_in ? { expiresAt: expiryOf(answer.expires_in) } : {}),
});
