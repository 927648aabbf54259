import { type Key, keys } from '#platform/store/keys.ts';
import { get, put, queryAll, update, updateExisting } from '#platform/store/table.ts';
import { expiryIn, now } from '#platform/store/time.ts';

/** Pull requests with plans: the current commit, its runs, and the comment with their results. */

export interface PullRequest {
  headSha: string;
  base: string;
  /** Incremented by each new commit or base. */
  n: number;
  commentId?: string;
  /** The comment's text. */
  comment?: string;
  /** The connection's account may not comment. */
  commentRefused?: boolean;
  leaseUntil?: string;
}

/** The newest run of the pull request in a workspace. */
export interface PullRun extends Key {
  workspaceId: string;
  runId: string;
  /** Number of the commit in the pull request. */
  n: number;
  /** The plan is saved. */
  saved?: boolean;
}

const keptSeconds = 90 * 86_400;
const expiry = (): number => expiryIn(keptSeconds);

export const getPullRequest = (repository: string, number: number): Promise<PullRequest | undefined> =>
  get<PullRequest>(keys.pullRequest(repository, number));

/**
 * Makes a commit the pull request's current one. The caller reads the record (`seen`) first and then the commit from
 * the forge; undefined after a concurrent delivery, which means that both must be read again.
 */
export const claimPull = async (
  repository: string,
  number: number,
  { headSha, base }: Pick<PullRequest, 'headSha' | 'base'>,
  seen: PullRequest | undefined,
): Promise<PullRequest | undefined> => {
  if (seen?.headSha === headSha && seen.base === base) return seen;
  return update<PullRequest>(keys.pullRequest(repository, number), {
    set: { headSha, base, expiresAt: expiry() },
    add: { n: 1 },
    condition: seen ? 'n = :seen' : 'attribute_not_exists(pk)',
    values: seen ? { ':seen': seen.n } : {},
  });
};

export const getPullRun = (repository: string, number: number, workspaceId: string): Promise<PullRun | undefined> =>
  get<PullRun>(keys.pullRun(repository, number, workspaceId));

export const pullRunsOf = (repository: string, number: number): Promise<PullRun[]> => {
  const { pk, sk } = keys.pullRun(repository, number, '');
  return queryAll<PullRun>({ pk, prefix: sk });
};

/**
 * Makes a run the pull request's newest in its workspace, and calls `outdate` with the run that it replaces. False
 * when that run belongs to a newer commit. Can be repeated.
 */
export const keepPullRun = async (
  repository: string,
  number: number,
  { workspaceId, runId, n, saved }: Required<Omit<PullRun, keyof Key>>,
  outdate: (earlier: PullRun) => Promise<void>,
): Promise<boolean> => {
  const key = keys.pullRun(repository, number, workspaceId);
  for (;;) {
    const earlier = await get<PullRun>(key);
    if (earlier?.runId === runId) return true;
    if (earlier && earlier.n > n) return false;
    if (earlier) await outdate(earlier);
    const kept = await put(
      { ...key, workspaceId, runId, n, saved, expiresAt: expiry() },
      earlier
        ? { condition: 'runId = :seen', values: { ':seen': earlier.runId } }
        : { condition: 'attribute_not_exists(pk)' },
    );
    if (kept) return true;
  }
};

const leaseMs = 15_000;

/** Reserves the comment for one writer for a while, for the current commit. Undefined for other writers. */
export const leaseComment = (repository: string, number: number, sha: string): Promise<PullRequest | undefined> =>
  update<PullRequest>(keys.pullRequest(repository, number), {
    set: { leaseUntil: new Date(Date.now() + leaseMs).toISOString() },
    condition: 'headSha = :sha AND (attribute_not_exists(leaseUntil) OR leaseUntil < :now)',
    values: { ':sha': sha, ':now': now() },
  });

export const releaseComment = async (
  repository: string,
  number: number,
  written: Pick<PullRequest, 'commentId' | 'comment' | 'commentRefused'>,
): Promise<void> => {
  await updateExisting(keys.pullRequest(repository, number), { set: written, remove: ['leaseUntil'] });
};
