import * as v from 'valibot';
import { forbidden, unavailable, unprocessable } from '#api/errors.ts';
import type { GithubAppSettings } from '#platform/environment.ts';
import { asForgeError } from '../call.ts';
import type { Call } from '../forges/forge.ts';
import { authorizationOf, callAsPerson } from './authorization.ts';
import { countRepositories } from './installation-token.ts';
import { factsOf, type InstallationFacts, installationIdOf, installationSchema } from './installations.ts';
import { pageOfRepositories } from './repositories.ts';

/** Installations that a user can access with their own account, according to GitHub. */

export type OwnInstallation = InstallationFacts & { id: string };

const size = 100;
const maxPages = 10;

const answer = v.object({ installations: v.array(installationSchema) });

const installations = async (app: GithubAppSettings, call: Call): Promise<OwnInstallation[]> => {
  const all: OwnInstallation[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const query = { per_page: size, page };
    const { body } = await call({ method: 'GET', path: '/user/installations', query });
    const { installations: found } = v.parse(answer, body);
    // GitHub lists only installations of this app to its tokens.
    const ours = found.filter(({ app_id: appId = app.id }) => appId === app.id);
    all.push(...ours.map((one) => ({ ...factsOf(one), id: installationIdOf(app, one.id) })));
    if (found.length < size) break;
  }
  return all;
};

/** Translates GitHub's errors. @throws {ApiError} 422, or 503 while GitHub's rate limit is exhausted */
const asking = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if ((error as Error).name === 'ApiError') throw error;
    const { failure, message } = asForgeError('GitHub', error);
    throw failure === 'limited' ? unavailable(message) : unprocessable('/data', message);
  }
};

/**
 * Empty for a user who has not authorized the app within the last hour. 1 read, and 1 call if authorized.
 * @throws {ApiError}
 */
export const ownInstallations = async (app: GithubAppSettings, userId: string): Promise<OwnInstallation[]> => {
  const authorization = await authorizationOf(userId);
  if (!authorization) return [];
  return asking(async () => installations(app, await callAsPerson(app, authorization)));
};

const maxRepositoryPages = 30;

const refusal = (login: string, why: string) =>
  forbidden(
    `Linking the installation for ${login} takes an account that administers each of its repositories; ${why}.`,
  );

/**
 * Number of the installation's repositories.
 * @throws {ApiError} 403 for an installation that the user does not administer
 */
const countAdministered = async (call: Call, { installationId, account }: OwnInstallation): Promise<number> => {
  const path = `/user/installations/${installationId}/repositories`;
  const first = await pageOfRepositories(call, path, { page: 1, size });
  const pages = Math.ceil(first.total / size);
  if (pages > maxRepositoryPages) {
    throw forbidden(
      `The installation for ${account.login} has more than ${maxRepositoryPages * size} repositories. Install the app for selected repositories.`,
    );
  }
  const rest = Array.from({ length: Math.max(0, pages - 1) }, (_, i) => i + 2);
  const others = await Promise.all(rest.map((page) => pageOfRepositories(call, path, { page, size })));
  const all = [first, ...others].flatMap(({ items }) => items);
  const lacking = all.find(({ permissions }) => !permissions?.admin);
  if (lacking) throw refusal(account.login, `yours does not administer ${lacking.full_name}`);
  return all.length;
};

/**
 * The user's own installation with this id. A user who sees an installation may have read access to only one of its
 * repositories, but linking it gives an organization read access to all: so the user must administer every one.
 * @throws {ApiError} 403 for others; 422 with GitHub's message
 */
export const linkableInstallation = async (
  app: GithubAppSettings,
  userId: string,
  id: string,
): Promise<OwnInstallation | undefined> => {
  const authorization = await authorizationOf(userId);
  if (!authorization) {
    throw forbidden(
      'Authorize the GitHub App with your own account first: POST organizations/:organization/github-app-installations/actions/authorize, or the page. It is valid for an hour.',
    );
  }
  return asking(async () => {
    const call = await callAsPerson(app, authorization);
    const own = (await installations(app, call)).find((one) => one.id === id);
    if (!own) return undefined;
    const administered = await countAdministered(call, own);
    if ((await countRepositories(app, own)) <= administered) return own;
    throw refusal(own.account.login, 'yours does not see all of them');
  });
};
