import { setTimeout as delay } from 'node:timers/promises';
import { keys } from '#platform/store/keys.ts';
import { get, update } from '#platform/store/table.ts';
import { type Connection, callerOf, fetchFor } from './call.ts';
import {
  getClient,
  getEndedClient,
  getEndedToken,
  getToken,
  keepRefreshed,
  type OauthClient,
  type OauthToken,
  openClientSecret,
  openRefreshToken,
  openToken,
  recordTokenProblem,
} from './connections.ts';
import { ForgeError } from './forge-error.ts';
import type { Call, Forge } from './forges/forge.ts';
import { forges } from './forges/forges.ts';
import { connectionByInstallation, type Reach } from './github-app/installation-token.ts';
import { isInstallation } from './github-app/installations.ts';
import { botId, installedRepositories } from './github-app/repositories.ts';
import { RefreshRefusedError, refreshToken } from './refresh.ts';
import { providerOf } from './service-providers.ts';

/** A usable connection: its forge, and its current token. */
export interface Access extends Connection {
  /** Id of the OAuth token, or of the installation of the GitHub App. */
  id: string;
  forge: Forge;
  name: string;
  call: Call;
  /** An installation has one webhook for all repositories, and cannot look up its own account at GitHub. */
  isInstallation: boolean;
  /** Id of the account at the forge that writes comments. */
  accountId(): Promise<string>;
}

const refreshBeforeMs = 120_000;
const leaseMs = 10_000;
const patienceMs = 5_000;

const isFresh = ({ expiresAt, sealedRefreshToken }: OauthToken): boolean =>
  !expiresAt || !sealedRefreshToken || Date.parse(expiresAt) - Date.now() > refreshBeforeMs;

/** One call refreshes the token, the others wait for its result: a refresh token works only once. */
const refreshed = async (client: OauthClient, token: OauthToken): Promise<OauthToken> => {
  const until = Date.now() + patienceMs;
  for (;;) {
    const at = new Date().toISOString();
    const leased = await update<OauthToken>(keys.oauthToken(token.id), {
      set: { leaseUntil: new Date(Date.now() + leaseMs).toISOString() },
      condition: 'generation = :seen AND (attribute_not_exists(leaseUntil) OR leaseUntil < :now)',
      values: { ':seen': token.generation, ':now': at },
    });
    if (leased) return refreshNow(client, leased);
    const current = await get<OauthToken>(keys.oauthToken(token.id));
    if (!current) throw new ForgeError('refused', 'the connection was deleted');
    // Accepts a refreshed token that is valid for less than two minutes: it has just been issued.
    if (isFresh(current) || current.generation !== token.generation) return current;
    if (Date.now() > until) throw new ForgeError('unreachable', 'the token is being refreshed');
    await delay(200);
  }
};

const refreshNow = async (client: OauthClient, token: OauthToken): Promise<OauthToken> => {
  const { oauth } = forges[client.dialect];
  const { name } = providerOf(client.serviceProvider);
  if (!oauth) throw new ForgeError('refused', `${name} issues no new tokens`);
  const [secret, current] = await Promise.all([openClientSecret(client), openRefreshToken(token)]);
  try {
    const issued = await refreshToken({
      fetch: fetchFor(client),
      tokenEndpoint: `${client.httpUrl}${oauth.token}`,
      clientId: client.key ?? '',
      clientSecret: secret ?? '',
      refreshToken: current ?? '',
    });
    return (await keepRefreshed(token, issued)) ?? (await getToken(token.id)) ?? token;
  } catch (error) {
    if (!(error instanceof RefreshRefusedError)) {
      throw new ForgeError('unreachable', `${name} did not answer the request for a new token`);
    }
    const broken = `${name} does not issue a new token (${error.message.slice(0, 50)}). Authorize the connection again`;
    await recordTokenProblem(token, { broken });
    throw new ForgeError('refused', broken);
  }
};

const accessByInstallation = async (id: string, reach: Reach): Promise<Access> => {
  const connection = await connectionByInstallation(id, reach);
  const call = callerOf(connection, reach);
  return {
    ...connection,
    id,
    forge: { ...forges.github, repositories: installedRepositories },
    name: providerOf('github_app').name,
    call,
    isInstallation: true,
    accountId: () => botId(call),
  };
};

/**
 * 2 reads and 1 KMS request; a refresh when the token is about to expire.
 * @param id id of an OAuth token, or of an installation of the GitHub App
 * @param reach `ended`: accepts a connection that is being deleted, to delete its webhooks; `repository`: the
 * repository for which an installation's token is issued
 * @throws {ForgeError} for a connection that cannot be used now
 */
export const accessBy = async (id: string, reach: Reach = {}): Promise<Access> =>
  isInstallation(id) ? accessByInstallation(id, reach) : accessByToken(id, reach);

const accessByToken = async (tokenId: string, { patient = false, ended = false }: Reach): Promise<Access> => {
  const token = await (ended ? getEndedToken : getToken)(tokenId);
  const client = token && (await (ended ? getEndedClient : getClient)(token.clientId));
  if (!token || !client) throw new ForgeError('refused', 'the connection was deleted');
  const { name } = providerOf(client.serviceProvider);
  if (token.broken) throw new ForgeError('refused', token.broken);
  if (token.pausedUntil && token.pausedUntil > new Date().toISOString()) {
    throw new ForgeError(
      'limited',
      `the rate limit of ${name} is reached until ${token.pausedUntil.slice(11, 16)} UTC`,
    );
  }
  const good = isFresh(token) ? token : await refreshed(client, token);
  const connection: Connection = {
    client,
    secret: await openToken(good),
    onProblem: (problem) => recordTokenProblem(good, problem),
  };
  return {
    ...connection,
    id: tokenId,
    forge: forges[client.dialect],
    name,
    call: callerOf(connection, { patient }),
    isInstallation: false,
    accountId: async () => good.account.id,
  };
};
