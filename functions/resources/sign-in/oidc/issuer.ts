import * as oauth from 'oauth4webapi';
import { environment, type OidcSettings } from '#platform/environment.ts';
import { guardedFetch } from '#platform/net/outbound/fetch.ts';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import type { Person } from '#resources/users/person.ts';
import type { Attempt } from '../attempt.ts';
import { readableFailure } from './failures.ts';
import { clientSecret } from './settings.ts';

/**
 * OpenID Connect with the operator's issuer: authorization code flow with PKCE, state and nonce (OpenID Connect Core
 * 1.0 §3.1, RFC 9700). oauth4webapi validates the response: its state and issuer (RFC 9207), the ID token's issuer,
 * audience, nonce and times, and its signature.
 */

/** Tolerance for clock skew. */
const toleranceSeconds = 60;

/**
 * Allows http for an issuer on the same machine only; on AWS, outbound requests reject such addresses
 * (platform/net/outbound/addresses.ts).
 */
const optionsFor = ({ issuer }: OidcSettings) => ({
  [oauth.customFetch]: guardedFetch as never,
  [oauth.allowInsecureRequests]: isLoopback(new URL(issuer)),
});

const metadataKeptMs = 10 * 60_000;

/** oauth4webapi caches the issuer's keys by this object, and reloads them when a key is missing. */
let cached: { issuer: string; server: oauth.AuthorizationServer; until: number } | undefined;

const discover = async (settings: OidcSettings): Promise<oauth.AuthorizationServer> => {
  if (cached?.issuer === settings.issuer && cached.until > Date.now()) return cached.server;
  const issuer = new URL(settings.issuer);
  const response = await oauth.discoveryRequest(issuer, optionsFor(settings));
  const server = await oauth.processDiscoveryResponse(issuer, response);
  cached = { issuer: settings.issuer, server, until: Date.now() + metadataKeptMs };
  return server;
};

const clientOf = ({ clientId }: OidcSettings): oauth.Client => ({
  client_id: clientId,
  [oauth.clockTolerance]: toleranceSeconds,
});

/** Client authentication method from the issuer's metadata; HTTP Basic by default (OpenID Connect Discovery 1.0 §3). */
const authentication = async (settings: OidcSettings, server: oauth.AuthorizationServer) => {
  const secret = await clientSecret(settings);
  if (secret === undefined) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') || !methods.includes('client_secret_post')
    ? oauth.ClientSecretBasic(secret)
    : oauth.ClientSecretPost(secret);
};

/**
 * URL at which the browser signs in.
 * @throws {SignInError} 502
 */
export const authorizationUrl = async (
  settings: OidcSettings,
  attempt: Attempt,
  redirectUri: string,
): Promise<string> => {
  try {
    const { authorization_endpoint: endpoint } = await discover(settings);
    if (!endpoint) throw new Error('its metadata has no authorization endpoint');
    const url = new URL(endpoint);
    const parameters = {
      response_type: 'code',
      client_id: settings.clientId,
      redirect_uri: redirectUri,
      scope: settings.scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  } catch (error) {
    throw readableFailure(error, settings);
  }
};

type Claims = Record<string, unknown>;

/** Exchanges the code in the callback's query for tokens, and validates the ID token. */
const redeem = async (
  settings: OidcSettings,
  parameters: URLSearchParams,
  attempt: Attempt,
  redirectUri: string,
): Promise<{ server: oauth.AuthorizationServer; accessToken: string; idToken: oauth.IDToken & Claims }> => {
  const client = clientOf(settings);
  const options = optionsFor(settings);
  const server = await discover(settings);
  const checked = oauth.validateAuthResponse(server, client, parameters, attempt.state);
  const by = await authentication(settings, server);
  const { verifier, nonce } = attempt;
  const answer = await oauth.authorizationCodeGrantRequest(server, client, by, checked, redirectUri, verifier, options);
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, answer, options);
  const idToken = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken & Claims;
  return { server, accessToken: tokens.access_token, idToken };
};

/**
 * Claims of the ID token of the user who signed in.
 * @param parameters query of the callback from the issuer
 * @throws {SignInError}
 */
export const claimsFrom = async (
  settings: OidcSettings,
  parameters: URLSearchParams,
  attempt: Attempt,
  redirectUri: string,
): Promise<Claims> => {
  try {
    return (await redeem(settings, parameters, attempt, redirectUri)).idToken;
  } catch (error) {
    throw readableFailure(error, settings);
  }
};

/**
 * The person who signed in.
 * @param parameters query of the callback from the issuer
 * @throws {SignInError}
 */
export const personFrom = async (
  settings: OidcSettings,
  parameters: URLSearchParams,
  attempt: Attempt,
  redirectUri: string,
): Promise<Person> => {
  try {
    const { server, accessToken, idToken } = await redeem(settings, parameters, attempt, redirectUri);
    if (isComplete(settings, idToken) || !server.userinfo_endpoint) return personOf(settings, idToken);
    const client = clientOf(settings);
    const response = await oauth.userInfoRequest(server, client, accessToken, optionsFor(settings));
    const userInfo = await oauth.processUserInfoResponse(server, client, idToken.sub, response);
    return personOf(settings, { ...userInfo, ...idToken });
  } catch (error) {
    throw readableFailure(error, settings);
  }
};

/** Some issuers put the requested claims into the ID token, others return them only from their UserInfo endpoint. */
const isComplete = ({ groupsClaim }: OidcSettings, claims: Claims): boolean =>
  claims.email !== undefined && (groupsClaim === undefined || claims[groupsClaim] !== undefined);

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const personOf = (settings: OidcSettings, claims: oauth.IDToken & Claims): Person => {
  const claimed = text(claims.email);
  const email = claimed && foldCase(claimed);
  // Some issuers send booleans as strings.
  const isVerified = claims.email_verified === true || claims.email_verified === 'true';
  return {
    issuer: settings.issuer,
    subject: claims.sub,
    email,
    emailVerified: email !== undefined && (isVerified || environment.signIn?.trustEmails === true),
    username: text(claims.preferred_username) ?? text(claims['cognito:username']) ?? text(claims.nickname),
    groups: groupsIn(settings, claims),
  };
};

const groupsIn = ({ groupsClaim }: OidcSettings, claims: Claims): string[] | undefined => {
  if (groupsClaim === undefined) return undefined;
  // Entra leaves out more than 200 groups and refers to another endpoint (Microsoft identity platform: groups overage
  // claim).
  const elsewhere = claims._claim_names as Claims | undefined;
  if (elsewhere?.[groupsClaim] !== undefined) return undefined;
  const groups = claims[groupsClaim];
  // Issuers omit the claim for users without groups.
  return (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === 'string' && group !== '');
};
