import { randomUUID } from 'node:crypto';
import { unprocessable } from '#api/errors.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Workspace, WorkspaceChange } from '#resources/workspaces/records.ts';
import { settleFileTriggers, vcsRepoIn } from '#resources/workspaces/vcs-repo-input.ts';
import type { VcsRepo } from '#resources/workspaces/vcs-repo-record.ts';
import { getClient, getToken, serves } from './connections.ts';
import { keepDelivery } from './deliveries.ts';
import { followsOf } from './follows.ts';
import { getRepository, unfollow } from './repositories.ts';
import {
  at,
  type Choice,
  checkConnection,
  checkTags,
  chosen,
  followChoice,
  isSame,
  wantedFrom,
} from './repository-choice.ts';

/** Connects workspaces to repositories (HCP API: workspaces, `vcs-repo`). */

/** A validated request, not written yet. */
export type Prepared =
  | { kind: 'disconnect' }
  /** The repository stays; its other settings change. */
  | { kind: 'change'; vcsRepo: VcsRepo; before: VcsRepo }
  | ({ kind: 'connect' } & Choice);

/**
 * Validates `vcs-repo` and the trigger settings in a request; sends requests to the forge if the repository changes.
 * Writes nothing. Undefined when nothing changes.
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
  const wanted = given ? wantedFrom(given, before) : undefined;
  const tagsRegex = given === null ? null : (wanted ?? before)?.tagsRegex;
  settleFileTriggers(request, change, current, tagsRegex ?? null);
  const projectId = change.projectId ?? home.projectId;
  const moves = projectId !== current?.projectId;
  if (given === null) return before ? { kind: 'disconnect' } : undefined;
  const connection = wanted ?? before;
  if (connection && (wanted || moves)) {
    await checkConnection(connection, organization, (client) => serves(client, projectId), 'for this project');
  }
  if (!wanted) return undefined;
  if ((change.executionMode ?? current?.executionMode) === 'local') {
    throw unprocessable(
      at,
      'vcs-repo: needs execution-mode remote or agent, because local workspaces have no runs on this platform',
    );
  }
  checkTags(wanted.tagsRegex);
  if (before && isSame(before, wanted)) return { kind: 'change', vcsRepo: { ...before, ...wanted }, before };
  return { kind: 'connect', ...(await chosen(wanted)) };
};

/** Whether the workspace may use its connection in this project. 2 reads. */
export const mayFollow = async ({ vcsRepo }: Workspace, projectId: string): Promise<boolean> => {
  const token = vcsRepo?.oauthTokenId ? await getToken(vcsRepo.oauthTokenId) : undefined;
  const client = token && (await getClient(token.clientId));
  return !client || serves(client, projectId);
};

/** Writes the validated connection, and returns its part of the workspace's record. @throws {ApiError} 422 */
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
  const vcsRepo = await followChoice(prepared, workspaceId);
  return { vcsRepo, vcsFollows: followsOf(vcsRepo), vcsMoves: 0 };
};

/** Runs after the write of the workspace's record: leaves the former repository, and fetches from the new one. */
export const settleVcsRepo = async (before: Workspace | undefined, after: Workspace): Promise<void> => {
  const [from, to] = [before?.vcsRepo, after.vcsRepo];
  if (from && from.repository !== to?.repository) await unfollow(from, after.id);
  const same = from && followsOf(from) === followsOf(to ?? from) && from.ingressSubmodules === to?.ingressSubmodules;
  if (!to || same) return;
  const repository = await getRepository(to.repository);
  if (!repository) return;
  const task = { kind: 'connected', workspaceId: after.id } as const;
  await keepDelivery({ uuid: repository.uuid, id: `connected-${randomUUID()}`, repository: to.repository, task });
};

/** Undoes a connection whose change failed. */
export const abandonVcsRepo = async (prepared: Prepared, workspace: Workspace, given: VcsRepo | null | undefined) => {
  if (prepared.kind !== 'connect' || !given || workspace.vcsRepo?.repository === given.repository) return;
  await unfollow(given, workspace.id);
};
