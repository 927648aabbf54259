import { type Key, keys } from '../store/keys.ts';
import { get, put, queryAll, update } from '../store/table.ts';
import { now } from '../store/time.ts';

/** Pull requests that somebody plans: which commit counts, the runs of it, and the comment that says how they go. */

export interface PullRequest {
  headSha: string;
  base: string;
  /** Raised whenever another commit or base counts. */
  n: number;
  commentId?: string;
  /** What the comment says. */
  comment?: string;
  /** The forge does not let the connection's account comment. */
  commentRefused?: boolean;
  leaseUntil?: string;
}

/** The newest run of the pull request in a workspace. */
export interface PullRun extends Key {
  workspaceId: string;
  runId: string;
  /** Of which commit, by the pull request's number for it; absent in what was stored before there was this. */
  n?: number;
  /** Its plan is saved. */
  saved?: boolean;
}

const keptSeconds = 90 * 86_400;
const expiry = (): number => Math.floor(Date.now() / 1000) + keptSeconds;

export const getPullRequest = (repository: string, number: number): Promise<PullRequest | undefined> =>
  get<PullRequest>(keys.pullRequest(repository, number));

/**
 * Makes a commit the one that counts, as the forge said it after `seen` was read. Undefined when somebody else looked
 * meanwhile: then the forge may say something else by now.
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
 * Makes a run the pull request's newest in its workspace, after `outdate` was called with the one that it replaces. False
 * when that is of a newer commit. May be repeated.
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
    if ((earlier?.n ?? 0) > n) return false;
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

/** The comment is one writer's for a while, of the commit that counts. Undefined for anybody else. */
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
  await update(keys.pullRequest(repository, number), {
    set: written,
    remove: ['leaseUntil'],
    condition: 'attribute_exists(pk)',
  });
};
