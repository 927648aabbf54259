import type { Granted } from '#api/permissions/granted.ts';
import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { logError } from '#platform/store/log.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { refusalIn } from '#resources/workspaces/admitted-runs.ts';
import type { VcsRepo, Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import type { Access } from './access.ts';
import { type CommitArchive, type CommitArchives, requestArchive } from './archives.ts';
import type { Delivery } from './deliveries.ts';
import { ForgeError } from './forge-error.ts';
import type { FollowedRepository } from './repositories.ts';

/** Shared by the handling of pushes and pull requests. */

/** Functions of orchestration, which is a wing above this one. */
export interface Orchestration {
  /** Queues the run with this id, once. False when a newer commit overtook it. */
  queueRun(wanted: {
    id: string;
    workspace: Workspace;
    version: ConfigurationVersion;
    message: string;
    planOnly: boolean;
    /** The user who requested it; absent for a push. */
    by?: { userId: string; granted: Granted };
    commit: NonNullable<Run['commit']>;
    /** The plan can be applied later. */
    savePlan?: boolean;
    move?: { repository: string; follows: string; n: number };
  }): Promise<boolean>;
  /** Cancels an unfinished plan of a pull request, or discards a saved one. */
  cancelOutdated(runId: string, why: string): Promise<void>;
  /** Applies a saved plan. `stale`: the state has changed since. */
  applyPlan(run: Run, userId: string): Promise<'accepted' | 'conflict' | 'stale'>;
}

/** Result of a delivery. `level` error: a user has to act. */
export interface Outcome {
  message: string;
  level?: 'info' | 'error';
  suggestedAction?: string;
}

export interface Handling {
  delivery: Delivery;
  repository: FollowedRepository;
  access: Access;
  followers: Workspace[];
  orchestration: Orchestration;
}

const atOnce = 25;

/** Calls `work` for every item, 25 at a time, and continues after failures. @throws the last failure */
export const forEach = async <T>(all: T[], work: (one: T) => Promise<void>): Promise<void> => {
  const failures: unknown[] = [];
  for (let i = 0; i < all.length; i += atOnce) {
    const outcomes = await Promise.allSettled(all.slice(i, i + atOnce).map(work));
    failures.push(...outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : [])));
  }
  if (failures.length) throw failures.at(-1);
};

export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** If the invocation fails, the sweep repeats it. */
export const fetchLater = (archive: CommitArchive): Promise<void> =>
  invokeLater(environment.fetchCommitFunction, { archive: archive.id }).catch((error) =>
    logError('fetch not started; the sweep repeats it', error, { archive: archive.id }),
  );

type Follower = { vcsRepo?: VcsRepo | null };

/** Requests the commit's archives, with and without submodules as its followers need. */
export const fetchFor = async (
  repository: FollowedRepository,
  sha: string,
  followers: Follower[],
): Promise<CommitArchives> => {
  const kinds = [...new Set(followers.map(({ vcsRepo }) => vcsRepo?.ingressSubmodules ?? false))];
  const archives = await Promise.all(kinds.map((submodules) => requestArchive(repository, sha, submodules)));
  await Promise.all(archives.filter(({ status }) => status === 'fetching').map(fetchLater));
  return archives;
};

/** A workspace without runs waits for a user to start the first one, unless queue-all-runs is on. */
export const mayStart = ({ runCount, queueAllRuns }: Workspace): boolean => runCount > 0 || queueAllRuns;

/** @throws {ForgeError} when runs of the organization cannot start; the delivery's event shows it */
export const checkStarts = (workspace: Workspace): void => {
  const refusal = refusalIn(workspace);
  if (refusal !== undefined) throw new ForgeError('forbidden', `no run in ${workspace.name}. ${refusal}`);
};

/** The commit's data at the forge; only its SHA if the forge does not have the commit. @throws {ForgeError} */
export const commitAt = async ({ forge, call }: Access, { identifier }: FollowedRepository, sha: string) =>
  (await forge.commit(call, identifier, sha)) ?? { sha, message: '', url: '', author: null };
