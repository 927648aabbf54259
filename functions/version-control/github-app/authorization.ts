import { type Answer, json, redirect } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, openRoute, type Route, route } from '#api/route.ts';
import { environment, type GithubAppSettings } from '#platform/environment.ts';
import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { get, put } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { currentName } from '#resources/organizations/records.ts';
import { keepLink } from '../account-links.ts';
import { callerOf } from '../call.ts';
import type { Account } from '../connections.ts';
import type { Call } from '../forges/forge.ts';
import { github } from '../forges/github/forge.ts';
import { redeemCode } from '../oauth.ts';
import { type Attempt, beginAttempt, endedCookie, takeAttempt } from '../oauth-attempts.ts';
import { appClient, appSecret } from './app.ts';
import { appLinks } from './installations.ts';

/**
 * A user's authorization of the GitHub App. It proves which GitHub account is theirs, and for an hour lets the
 * platform read from GitHub which installations they may link (GitHub: generating a user access token for a GitHub
 * App).
 */

const goodForSeconds = 3600;

export interface AppAuthorization {
  id: string;
  userId: string;
  account: Account;
  sealedToken: Uint8Array;
  createdAt: string;
  /** Seconds since 1970. */
  expiresAt: number;
}

const contextOf = (userId: string): SecretContext => ({ user: userId, what: 'GitHub App authorization' });

/** Undefined when it is older than an hour. 1 read. */
export const authorizationOf = async (userId: string): Promise<AppAuthorization | undefined> => {
  const found = await get<AppAuthorization>(keys.appAuthorization(userId));
  return found && found.expiresAt > Date.now() / 1000 ? found : undefined;
};

/** Calls GitHub as the user. 1 KMS request. */
export const callAsPerson = async (app: GithubAppSettings, { userId, sealedToken }: AppAuthorization): Promise<Call> =>
  callerOf({ client: appClient(app), secret: await open(sealedToken, contextOf(userId)) });

/** @throws {ApiError} 404 if the operator has configured no app */
export const requireApp = (): GithubAppSettings => {
  const app = environment.githubApp;
  if (app) return app;
  throw notFound('This platform has no GitHub App. Its operator can create one: stepform github-app.');
};

const callbackPath = '/auth/github-app/callback';
const authorize = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  checkPerson(principal);
  const app = requireApp();
  const { url, cookie } = await beginAttempt(request, {
    clientId: appLinks,
    userId: principal.userId,
    organization: subject.organization,
    redirectUri: `${request.baseUrl}${callbackPath}`,
    url: `${app.url}${github.oauth.authorize}`,
    key: app.clientId,
  });
  const attributes = { 'authorize-url': url, 'install-url': `${app.url}/apps/${app.slug}/installations/new` };
  const data = { id: String(app.id), type: 'oauth-authorizations', attributes };
  return { ...json(200, { data }), cookies: [cookie] };
};

const redeem = async (request: ApiRequest, app: GithubAppSettings, attempt: Attempt): Promise<void> => {
  const { userId } = attempt;
  const client = appClient(app);
  const secret = await appSecret(app, 'clientSecret');
  const { httpUrl } = client;
  const { token } = await redeemCode(request, attempt, { paths: github.oauth, httpUrl, key: app.clientId, secret });
  const account = await github.whoAmI(callerOf({ client, secret: token }));
  const authorization: AppAuthorization = {
    id: derivedId('ghaot', `${app.id} ${userId}`),
    userId,
    account,
    sealedToken: await seal(token, contextOf(userId)),
    createdAt: now(),
    expiresAt: expiryIn(goodForSeconds),
  };
  await put({ ...keys.appAuthorization(userId), ...authorization });
  await keepLink(appLinks, { id: account.id, username: account.name }, userId);
};

const callback = async (request: ApiRequest): Promise<Answer> => {
  const app = requireApp();
  const { attempt } = await takeAttempt(request, async ({ clientId }) => (clientId === appLinks ? true : undefined));
  const page = `/app/${await currentName(attempt.organization)}/settings/version-control`;
  const done = (outcome: string): Answer => ({
    ...redirect(303, `${page}?${outcome}=github-app`),
    cookies: [endedCookie(request)],
  });
  try {
    await redeem(request, app, attempt);
  } catch {
    // GitHub's message could contain the code.
    return done('failed');
  }
  return done('authorized');
};

export const authorizationRoutes: Route[] = [
  route(
    'POST',
    '/organizations/{organization}/github-app-installations/actions/authorize',
    'connection:read',
    organization,
    authorize,
  ),
];

/** Outside the API's prefix, because GitHub redirects browsers here. */
export const appCallbackRoutes: Route[] = [openRoute('GET', callbackPath, 'anyone', callback)];
