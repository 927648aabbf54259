import * as oauth from 'oauth4webapi';
import type { ApiRequest } from '#api/request.ts';
import { fetchFor } from './call.ts';
import type { IssuedToken, OauthClient } from './connections.ts';
import type { OauthPaths } from './forges/forge.ts';
import type { Attempt } from './oauth-attempts.ts';
import { expiryOf } from './refresh.ts';

/** A forge as an OAuth authorization server, for authorizations in a browser. */

/** Fixed metadata, because discovery would send requests to a user-supplied address. */
const serverOf = ({ httpUrl }: Pick<OauthClient, 'httpUrl'>, at: OauthPaths): oauth.AuthorizationServer => ({
  issuer: httpUrl,
  authorization_endpoint: `${httpUrl}${at.authorize}`,
  token_endpoint: `${httpUrl}${at.token}`,
});

const oauthOptions = ({ httpUrl, agentPoolId }: Pick<OauthClient, 'httpUrl' | 'agentPoolId'>) => ({
  [oauth.customFetch]: fetchFor({ agentPoolId }) as never,
  [oauth.allowInsecureRequests]: httpUrl.startsWith('http:'),
  headers: new Headers({ accept: 'application/json' }),
});

const issuedFrom = (answer: oauth.TokenEndpointResponse): IssuedToken => ({
  token: answer.access_token,
  ...(answer.refresh_token ? { refreshToken: answer.refresh_token } : {}),
  ...(answer.expires_in ? { expiresAt: expiryOf(answer.expires_in) } : {}),
});

interface Application extends Pick<OauthClient, 'httpUrl' | 'agentPoolId'> {
  paths: OauthPaths;
  /** The client's id at the forge. */
  key: string;
  secret: string;
}

/** Redeems the code in the request for a token. @throws {Error} with a message that may contain the code */
export const redeemCode = async (
  { query }: ApiRequest,
  { verifier, redirectUri }: Pick<Attempt, 'verifier' | 'redirectUri'>,
  { paths, key, secret, httpUrl, agentPoolId }: Application,
): Promise<IssuedToken> => {
  const application = { client_id: key };
  const server = serverOf({ httpUrl }, paths);
  // Finding the attempt has already verified the state.
  const checked = oauth.validateAuthResponse(server, application, query, query.get('state') ?? '');
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    application,
    oauth.ClientSecretPost(secret),
    checked,
    redirectUri,
    verifier,
    oauthOptions({ httpUrl, agentPoolId }),
  );
  return issuedFrom(await oauth.processAuthorizationCodeResponse(server, application, answer));
};
