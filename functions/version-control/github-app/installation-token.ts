import * as v from 'valibot';
import type { GithubAppSettings } from '#platform/environment.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { get, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { type Connection, callerOf } from '../call.ts';
import { ForgeError } from '../forge-error.ts';
import { appClient, callAsApp, theApp } from './app.ts';
import {
  getEndedInstallation,
  getInstallation,
  type Installation,
  type InstallationFacts,
  noteInstallation,
} from './installations.ts';
import { repositoryPermissions } from './manifest.ts';
import { pageOfRepositories } from './repositories.ts';

/**
 * Tokens of installations: each is valid for one repository and one hour, and is stored encrypted until shortly
 * before it expires (GitHub REST API: create an installation access token for an app).
 */

interface KeptToken {
  sealed: Uint8Array;
  goodUntil: string;
}

const renewedBeforeMs = 5 * 60_000;

/** Permission to list repositories. */
const seeing = { metadata: 'read' };

const issued = v.object({ token: v.pipe(v.string(), v.minLength(1)), expires_at: v.string() });

const contextOf = (id: string, repository: string): SecretContext => ({ installation: id, repository });

interface Wanted {
  app: GithubAppSettings;
  installation: InstallationFacts & { id: string };
  /** Name of the repository without the owner; empty for a token that lists repositories. */
  repository: string;
  patient: boolean;
}

const issue = async ({ app, installation, repository, patient }: Wanted): Promise<v.InferOutput<typeof issued>> => {
  const { id, installationId, account } = installation;
  const call = await callAsApp(app, { patient });
  const body = repository
    ? { repositories: [repository], permissions: repositoryPermissions }
    : { permissions: seeing };
  const path = `/app/installations/${installationId}/access_tokens`;
  const { status, body: answer } = await call({ method: 'POST', path, body, accept: [404, 422] });
  if (status === 404) {
    // The webhook that reports the uninstallation may have been lost.
    await noteInstallation(id, { uninstalledAt: now() });
    throw uninstalled(account.login);
  }
  if (status === 422) {
    throw new ForgeError(
      'missing',
      `the GitHub App's installation for ${account.login} does not reach the repository`,
      422,
    );
  }
  return v.parse(issued, answer);
};

const uninstalled = (login: string): ForgeError =>
  new ForgeError('refused', `the GitHub App was uninstalled from ${login}: install it and connect again`);

const token = async (wanted: Wanted): Promise<{ secret: string; key: Key }> => {
  const { installation, repository } = wanted;
  const name = foldCase(repository);
  const key = keys.installationToken(installation.id, name);
  const context = contextOf(installation.id, name);
  const kept = await get<KeptToken>(key);
  if (kept && Date.parse(kept.goodUntil) - Date.now() > renewedBeforeMs) {
    return { secret: await open(kept.sealed, context), key };
  }
  const { token: secret, expires_at: until } = await issue(wanted);
  const expiresAt = Math.floor(Date.parse(until) / 1000);
  await update(key, { set: { sealed: await seal(secret, context), goodUntil: until, expiresAt } });
  return { secret, key };
};

/** Number of repositories in the installation. 2 calls. @throws {ForgeError} */
export const countRepositories = async (
  app: GithubAppSettings,
  installation: InstallationFacts & { id: string },
): Promise<number> => {
  const { token: secret } = await issue({ app, installation, repository: '', patient: false });
  const call = callerOf({ client: appClient(app), secret });
  return (await pageOfRepositories(call, '/installation/repositories', { page: 1, size: 1 })).total;
};

/** @throws {ForgeError} for an installation that cannot be used now */
const checkUsable = ({ account: { login }, uninstalledAt, suspendedAt, pausedUntil }: Installation): void => {
  if (uninstalledAt) throw uninstalled(login);
  if (suspendedAt) throw new ForgeError('refused', `the GitHub App's installation for ${login} is suspended at GitHub`);
  if (pausedUntil && pausedUntil > now()) {
    throw new ForgeError('limited', `the rate limit of GitHub is reached until ${pausedUntil.slice(11, 16)} UTC`);
  }
};

export interface Reach {
  patient?: boolean;
  /** Accepts an installation that is being unlinked. */
  ended?: boolean;
  /** `owner/name` of the repository for which the token is issued; without it the token can only list repositories. */
  repository?: string;
}

/**
 * 2 reads and 1 KMS request; once per hour and repository also a call to GitHub.
 * @throws {ForgeError} for an installation that cannot be used now
 */
export const connectionByInstallation = async (
  id: string,
  { patient = false, ended = false, repository = '' }: Reach,
): Promise<Connection> => {
  const app = theApp();
  const installation = await (ended ? getEndedInstallation : getInstallation)(id);
  if (!installation) throw new ForgeError('refused', 'the GitHub App installation was unlinked');
  checkUsable(installation);
  const { organization, account } = installation;
  const [owner = '', name = '', ...rest] = repository.split('/');
  // GitHub issues tokens by repository name only, so a repository of another owner is rejected here.
  if (repository && (rest.length > 0 || foldCase(owner) !== foldCase(account.login))) {
    throw new ForgeError('missing', `the GitHub App's installation for ${account.login} does not reach ${repository}`);
  }
  const { secret, key } = await token({ app, installation, repository: name, patient });
  return {
    client: { ...appClient(app), id, organization, name: account.login },
    secret,
    onProblem: async (problem) => {
      if ('pausedUntil' in problem) await noteInstallation(id, problem);
      // The token was revoked early; the next call gets a new one.
      else await remove(key);
    },
  };
};
