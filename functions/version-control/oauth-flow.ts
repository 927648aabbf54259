import { type Answer, json, redirect } from '#api/answer.ts';
import { unprocessable } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, openRoute, type Route, route } from '#api/route.ts';
import { currentName } from '#resources/organizations/records.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import { callerOf } from './call.ts';
import { getClient, keepToken, type OauthClient, openClientSecret } from './connections.ts';
import { callbackPath } from './document.ts';
import { oauthClient } from './finder.ts';
import type { OauthPaths } from './forges/forge.ts';
import { forges } from './forges/forges.ts';
import { redeemCode } from './oauth.ts';
import { type Attempt, beginAttempt, endedCookie, takeAttempt } from './oauth-attempts.ts';

/** A user authorizes a connection at the forge; its token belongs to the user's account there. */

/** @throws {ApiError} 422 for a provider without OAuth */
const pathsOf = ({ dialect }: OauthClient): OauthPaths => {
  const { oauth } = forges[dialect];
  if (oauth) return oauth;
  throw unprocessable('/data', 'This provider is connected by a personal access token: oauth-token-string');
};

const connect = async ({ request, subject, principal }: Context<OauthClient>): Promise<Answer> => {
  const { id, organization, key, sealedSecret } = subject;
  const at = pathsOf(subject);
  if (!key || !sealedSecret) {
    throw unprocessable(
      '/data/attributes/key',
      'key: this OAuth client has no key and secret to authorize with. Set both, or use a personal access token',
    );
  }
  const { url, cookie } = await beginAttempt(request, {
    clientId: id,
    userId: principal.userId,
    organization,
    redirectUri: `${request.baseUrl}${callbackPath(subject)}`,
    url: `${subject.httpUrl}${at.authorize}`,
    key,
    scope: at.scope,
  });
  const data = { id, type: 'oauth-authorizations', attributes: { 'authorize-url': url } };
  return { ...json(200, { data }), cookies: [cookie] };
};

const redeem = async (request: ApiRequest, attempt: Attempt, client: OauthClient): Promise<void> => {
  const forge = forges[client.dialect];
  const secret = (await openClientSecret(client)) ?? '';
  const { httpUrl, agentPoolId } = client;
  const issued = await redeemCode(request, attempt, {
    paths: pathsOf(client),
    httpUrl,
    agentPoolId,
    key: client.key ?? '',
    secret,
  });
  const account = await forge.whoAmI(callerOf({ client, secret: issued.token }));
  await keepToken(client, issued, account);
};

const clientAt = async ({ params }: ApiRequest, { clientId }: Attempt): Promise<OauthClient | undefined> => {
  const client = await getClient(clientId);
  return client?.uuid === params.uuid ? client : undefined;
};

const callback = async (request: ApiRequest): Promise<Answer> => {
  const { attempt, found: client } = await takeAttempt(request, (one) => clientAt(request, one));
  const page = `/app/${await currentName(client.organization)}/settings/version-control`;
  const done = (outcome: string): Answer => ({
    ...redirect(303, `${page}?${outcome}=${client.id}`),
    cookies: [endedCookie(request)],
  });
  // This browser started the authorization from the page, so the user acts with a session.
  const caller = { kind: 'session', address: request.address } as const;
  const granted = await grantsOfUser(attempt.userId, caller).on({ organization: client.organization });
  if (!granted.has('connection:write')) return done('denied');
  try {
    await redeem(request, attempt, client);
  } catch {
    // The forge's message could contain the code.
    return done('failed');
  }
  return done('connected');
};

export const oauthFlowRoutes: Route[] = [
  route('POST', '/oauth-clients/{oauthClient}/actions/connect', 'connection:write', oauthClient, connect),
];

/** Outside the API's prefix, because the forge redirects browsers here. */
export const callbackRoutes: Route[] = [openRoute('GET', '/auth/{uuid}/callback', 'anyone', callback)];
