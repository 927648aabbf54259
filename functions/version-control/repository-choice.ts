import { unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { environment } from '#platform/environment.ts';
import type { VcsRepoInput } from '#resources/workspaces/vcs-repo-input.ts';
import { connectionOf, type VcsRepo } from '#resources/workspaces/vcs-repo-record.ts';
import { type Access, accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import { getClient, getToken, type OauthClient } from './connections.ts';
import type { Repository } from './forges/forge.ts';
import { getInstallation, isInstallation } from './github-app/installations.ts';
import { regexOf } from './regex.ts';
import { hookPath } from './repositories.ts';
import { follow } from './webhooks.ts';

/**
 * Resolves the repository in a `vcs-repo`, for all kinds of followers (HCP API: workspaces, policy sets, registry
 * modules).
 */

export const at = '/data/attributes/vcs-repo';

/** The fields of `vcs-repo`, before any request to the forge. */
export type RequestedRepo = Pick<
  VcsRepo,
  'identifier' | 'branch' | 'ingressSubmodules' | 'tagsRegex' | 'oauthTokenId' | 'installationId'
>;

/** A repository found at its forge. */
export interface Choice {
  wanted: RequestedRepo;
  access: Access;
  found: Repository;
}

export const refused = (field: string, detail: string) => unprocessable(`${at}/${field}`, `${field}: ${detail}`);

type GivenConnection = Pick<VcsRepoInput, 'oauth-token-id' | 'github-app-installation-id'>;

/** An empty text counts as absent: the tfe provider sends one. @throws {ApiError} 422 for both or neither */
export const connectionIn = (
  given: GivenConnection,
  before?: VcsRepo | null,
): Pick<VcsRepo, 'oauthTokenId' | 'installationId'> => {
  const { 'oauth-token-id': oauthTokenId, 'github-app-installation-id': installationId } = given;
  if (oauthTokenId && installationId) {
    throw refused('oauth-token-id', 'cannot be set together with github-app-installation-id; send one of them');
  }
  if (installationId) return { installationId };
  if (oauthTokenId) return { oauthTokenId };
  if (before?.installationId) return { installationId: before.installationId };
  if (before?.oauthTokenId) return { oauthTokenId: before.oauthTokenId };
  throw refused('oauth-token-id', 'is missing; send it, or github-app-installation-id');
};

export const wantedFrom = (given: VcsRepoInput, before: VcsRepo | null | undefined): RequestedRepo => {
  const identifier = given.identifier ?? before?.identifier;
  if (!identifier) throw refused('identifier', 'is missing');
  const { branch, 'tags-regex': tagsRegex } = given;
  return {
    identifier,
    ...connectionIn(given, before),
    branch: branch === undefined ? (before?.branch ?? '') : (branch ?? ''),
    ingressSubmodules: given['ingress-submodules'] ?? before?.ingressSubmodules ?? false,
    tagsRegex: tagsRegex === undefined ? (before?.tagsRegex ?? null) : tagsRegex || null,
  };
};

export const checkTags = (tagsRegex: string | null): void => {
  if (!tagsRegex) return;
  try {
    regexOf(tagsRegex);
  } catch (error) {
    throw refused('tags-regex', `is not a supported expression: ${(error as Error).message.slice(0, 200)}`);
  }
};

/** An installation serves the whole organization that linked it. @throws {ApiError} 422 */
const checkInstallation = async (id: string, organization: string): Promise<void> => {
  const installation = isInstallation(id) ? await getInstallation(id) : undefined;
  if (installation?.organization === organization) return;
  throw refused(
    'github-app-installation-id',
    `${nameOf(organization)} has not linked this installation of the GitHub App`,
  );
};

/**
 * Checks that the connection can be used.
 * @param serves whether the follower may use the connection
 * @param whom the follower in the error: `for this project`
 * @throws {ApiError} 422
 */
export const checkConnection = async (
  wanted: Pick<VcsRepo, 'oauthTokenId' | 'installationId'>,
  organization: string,
  serves: (client: OauthClient) => boolean,
  whom: string,
): Promise<void> => {
  if (wanted.installationId) return checkInstallation(wanted.installationId, organization);
  const tokenId = connectionOf(wanted);
  const token = await getToken(tokenId);
  const client = token?.organization === organization ? await getClient(token.clientId) : undefined;
  if (!client || !serves(client)) throw refused('oauth-token-id', `connection not found ${whom}`);
};

/** For followers that belong to the whole organization. @throws {ApiError} 422 */
export const checkOrganizationScoped = (
  wanted: Pick<VcsRepo, 'oauthTokenId' | 'installationId'>,
  organization: string,
): Promise<void> =>
  checkConnection(
    wanted,
    organization,
    (client) => client.organizationScoped,
    'for the whole organization (organization-scoped)',
  );

const notAccessible = "Repository doesn't exist or isn't accessible.";

/** Looks the repository up at the forge. @throws {ApiError} 422 */
export const chosen = async (wanted: RequestedRepo): Promise<Choice> => {
  const { identifier, branch } = wanted;
  let name = 'Version control';
  try {
    const access = await accessBy(connectionOf(wanted), { repository: identifier });
    name = access.name;
    const { forge, call } = access;
    const found = await forge.repository(call, identifier);
    if (!found) throw refused('identifier', notAccessible);
    if (!access.isInstallation && !found.mayAdminister) {
      throw refused('identifier', `the connection needs admin access to ${identifier} to create its webhook`);
    }
    const head = branch || found.defaultBranch;
    if (!(await forge.branch(call, identifier, head))) {
      throw refused('branch', `Branch ${head} does not exist in ${identifier}`);
    }
    return { wanted, access, found };
  } catch (error) {
    if ((error as Error).name === 'ApiError') throw error;
    const { failure, message } = asForgeError(name, error);
    throw refused('identifier', failure === 'missing' ? notAccessible : message);
  }
};

export const isSame = (before: VcsRepo, wanted: RequestedRepo): boolean =>
  before.identifier === wanted.identifier &&
  connectionOf(before) === connectionOf(wanted) &&
  before.branch === wanted.branch;

/** Creates the follower and the webhook. @throws {ApiError} 422 */
export const followChoice = async ({ wanted, access, found }: Choice, follower: string): Promise<VcsRepo> => {
  try {
    const { publicUrl } = environment;
    const repository = await follow(access, found, follower, publicUrl);
    return {
      ...wanted,
      serviceProvider: access.client.serviceProvider,
      clientName: access.client.name,
      clientId: access.client.id,
      httpUrl: found.httpUrl,
      webhookUrl: access.isInstallation ? null : `${publicUrl}${hookPath(repository)}`,
      repository: repository.id,
    };
  } catch (error) {
    throw refused('identifier', asForgeError(access.name, error).message);
  }
};
