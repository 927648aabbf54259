import { randomUUID } from 'node:crypto';
import { unprocessable } from '../api/errors.ts';
import type { ApiRequest } from '../api/request.ts';
import { environment } from '../environment.ts';
import type { Workspace, WorkspaceChange } from '../workspaces/records.ts';
import { settleFileTriggers, type VcsRepoInput, vcsRepoIn } from '../workspaces/vcs-repo-input.ts';
import type { VcsRepo } from '../workspaces/vcs-repo-record.ts';
import { type Access, accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import { getClient, getToken, serves } from './connections.ts';
import { keepDelivery } from './deliveries.ts';
import { followsOf } from './follows.ts';
import type { Repository } from './forges/forge.ts';
import { regexOf } from './regex.ts';
import { getRepository, hookPath, unfollow } from './repositories.ts';
import { providerOf } from './service-providers.ts';
import { follow } from './webhooks.ts';

/** Connecting workspaces to repositories (HCP API: workspaces, `vcs-repo`). */

const at = '/data/attributes/vcs-repo';

type Wanted = Pick<VcsRepo, 'identifier' | 'branch' | 'ingressSubmodules' | 'tagsRegex' | 'oauthTokenId'>;

/** What was checked, and not written yet. */
export type Prepared =
  | { kind: 'disconnect' }
  /** The repository stays; its other settings change. */
  | { kind: 'change'; vcsRepo: VcsRepo; before: VcsRepo }
  | { kind: 'connect'; wanted: Wanted; access: Access; found: Repository };

const refused = (field: string, detail: string) => unprocessable(`${at}/${field}`, `${field}: ${detail}`);

/** An empty text is none: the provider of Terraform sends one. */
const merged = (given: VcsRepoInput, before: VcsRepo | null | undefined): Wanted => {
  if (given['github-app-installation-id']) {
    throw refused('github-app-installation-id', 'GitHub App installations are not supported; use oauth-token-id');
  }
  if (given['ingress-submodules'])
    throw refused('ingress-submodules', 'cannot be true: submodules are not fetched here');
  const identifier = given.identifier ?? before?.identifier;
  const oauthTokenId = given['oauth-token-id'] || before?.oauthTokenId;
  if (!identifier) throw refused('identifier', 'is missing');
  if (!oauthTokenId) throw refused('oauth-token-id', 'is missing');
  const { branch, 'tags-regex': tagsRegex } = given;
  return {
    identifier,
    oauthTokenId,
    branch: branch === undefined ? (before?.branch ?? '') : (branch ?? ''),
    ingressSubmodules: false,
    tagsRegex: tagsRegex === undefined ? (before?.tagsRegex ?? null) : tagsRegex || null,
  };
};

const checkTags = (tagsRegex: string | null): void => {
  if (!tagsRegex) return;
  try {
    regexOf(tagsRegex);
  } catch (error) {
    throw refused('tags-regex', `is not an expression that is supported: ${(error as Error).message.slice(0, 200)}`);
  }
};

/** Whether the project's workspaces may use it. @throws {ApiError} 422 */
const checkServes = async (tokenId: string, organization: string, projectId: string): Promise<void> => {
  const token = await getToken(tokenId);
  const client = token?.organization === organization ? await getClient(token.clientId) : undefined;
  if (!client || !serves(client, projectId)) {
    throw refused('oauth-token-id', 'there is no such connection for this project');
  }
  if (client.dialect) return;
  const { name } = providerOf(client.serviceProvider);
  throw refused('oauth-token-id', `${name} is not supported here yet: use github, gitlab or gitea`);
};

const look = async (wanted: Wanted): Promise<{ access: Access; found: Repository }> => {
  const { identifier, branch } = wanted;
  let name = 'Version control';
  try {
    const access = await accessBy(wanted.oauthTokenId);
    name = access.name;
    const { forge, call } = access;
    const found = await forge.repository(call, identifier);
    if (!found) throw refused('identifier', "Repository doesn't exist or isn't accessible.");
    if (!found.mayAdminister) {
      throw refused('identifier', `the connection needs admin access to ${identifier} to create its webhook`);
    }
    const head = branch || found.defaultBranch;
    if (!(await forge.branch(call, identifier, head))) {
      throw refused('branch', `Branch ${head} does not exist in ${identifier}`);
    }
    return { access, found };
  } catch (error) {
    if ((error as Error).name === 'ApiError') throw error;
    throw refused('identifier', asForgeError(name, error).message);
  }
};

const isSame = (before: VcsRepo, wanted: Wanted): boolean =>
  before.identifier === wanted.identifier &&
  before.oauthTokenId === wanted.oauthTokenId &&
  before.branch === wanted.branch;

/**
 * What a request says of `vcs-repo` and of what starts runs, checked; the forge is asked when the repository is another.
 * Nothing is written. Undefined when nothing changes.
 * @throws {ApiError} 422
 */
export const prepareVcsRepo = async (
  request: ApiRequest,
  change: WorkspaceChange,
  home: { organization: string; projectId: string; current?: Workspace },
): Promise<Prepared | undefined> => {
  const given = vcsRepoIn(request);
  const { current, organization } = home;
  const before = current?.vcsRepo;
  const wanted = given ? merged(given, before) : undefined;
  const tagsRegex = given === null ? null : (wanted ?? before)?.tagsRegex;
  settleFileTriggers(request, change, current, tagsRegex ?? null);
  const projectId = change.projectId ?? home.projectId;
  const moves = projectId !== current?.projectId;
  if (given === null) return before ? { kind: 'disconnect' } : undefined;
  const tokenId = wanted?.oauthTokenId ?? before?.oauthTokenId;
  if (tokenId && (wanted || moves)) await checkServes(tokenId, organization, projectId);
  if (!wanted) return undefined;
  if ((change.executionMode ?? current?.executionMode) === 'local') {
    throw unprocessable(at, 'vcs-repo: a workspace with execution mode local runs nothing here');
  }
  checkTags(wanted.tagsRegex);
  if (before && isSame(before, wanted)) return { kind: 'change', vcsRepo: { ...before, ...wanted }, before };
  return { kind: 'connect', wanted, ...(await look(wanted)) };
};

/** Follows what was prepared: what the workspace's record says of it. @throws {ApiError} 422 */
export const connectVcsRepo = async (
  prepared: Prepared,
  workspaceId: string,
): Promise<Pick<WorkspaceChange, 'vcsRepo' | 'vcsFollows' | 'vcsMoves'>> => {
  if (prepared.kind === 'disconnect') return { vcsRepo: null, vcsFollows: '', vcsMoves: 0 };
  if (prepared.kind === 'change') {
    const { vcsRepo, before } = prepared;
    const vcsFollows = followsOf(vcsRepo);
    return { vcsRepo, ...(vcsFollows === followsOf(before) ? {} : { vcsFollows, vcsMoves: 0 }) };
  }
  const { wanted, access, found } = prepared;
  try {
    const { publicUrl } = environment;
    const repository = await follow(access, found, workspaceId, publicUrl);
    const vcsRepo: VcsRepo = {
      ...wanted,
      serviceProvider: access.client.serviceProvider,
      clientName: access.client.name,
      clientId: access.client.id,
      httpUrl: found.httpUrl,
      webhookUrl: `${publicUrl}${hookPath(repository)}`,
      repository: repository.id,
    };
    return { vcsRepo, vcsFollows: followsOf(vcsRepo), vcsMoves: 0 };
  } catch (error) {
    throw refused('identifier', asForgeError(access.name, error).message);
  }
};

/** After the workspace's record: what it followed is left, and what it follows now is fetched. */
export const settleVcsRepo = async (before: Workspace | undefined, after: Workspace): Promise<void> => {
  const [from, to] = [before?.vcsRepo, after.vcsRepo];
  if (from && from.repository !== to?.repository) await unfollow(from.repository, from.clientId, after.id);
  if (!to || (from && followsOf(from) === followsOf(to))) return;
  const repository = await getRepository(to.repository);
  if (!repository) return;
  const matter = { kind: 'connected', workspaceId: after.id } as const;
  await keepDelivery({ uuid: repository.uuid, id: `connected-${randomUUID()}`, repository: to.repository, matter });
};

/** Of a change that came to nothing. */
export const abandonVcsRepo = async (prepared: Prepared, workspace: Workspace, given: VcsRepo | null | undefined) => {
  if (prepared.kind !== 'connect' || !given || workspace.vcsRepo?.repository === given.repository) return;
  await unfollow(given.repository, given.clientId, workspace.id);
};
