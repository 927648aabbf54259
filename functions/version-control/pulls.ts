import type { Granted } from '#api/permissions/granted.ts';
import { remove } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Organization } from '#resources/organizations/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { registerRun } from './commit-records.ts';
import { postUntriggered } from './commit-status.ts';
import { commitOf, type Followed, idFor, versionFor } from './commit-versions.ts';
import type { RepositoryTask } from './deliveries.ts';
import { follows } from './follows.ts';
import type { Pull, Sender } from './forges/forge.ts';
import { pullForges } from './forges/pull-forges.ts';
import {
  checkStarts,
  commitAt,
  counted,
  fetchFor,
  forEach,
  type Handling,
  mayStart,
  type Outcome,
} from './handling.ts';
import { discardPlans, releasePull } from './merges.ts';
import { claimPull, getPullRequest, keepPullRun, type PullRun, pullRunsOf } from './pull-records.ts';
import { filters, isTriggeredBy } from './triggers.ts';

/**
 * Pull requests: speculative plans of their newest commit. A delivery may be outdated when it is handled, so the pull
 * request is read from the forge. Pull requests from forks are never planned, because a plan runs its author's code
 * with the workspace's credentials.
 */

/** Whether the workspace plans pull requests to that branch. */
export const plansOf =
  ({ base }: Pick<Pull, 'base'>, defaultBranch: string) =>
  ({ vcsRepo, speculativeEnabled, executionMode }: Workspace): boolean =>
    vcsRepo != null && speculativeEnabled && executionMode !== 'local' && follows(vcsRepo, base, defaultBranch);

export const isConcerned =
  (pull: Pick<Pull, 'base'>, defaultBranch: string, files: string[] | undefined) =>
  (workspace: Workspace): boolean =>
    workspace.vcsRepo != null &&
    follows(workspace.vcsRepo, pull.base, defaultBranch) &&
    (workspace.vcsRepo.tagsRegex !== null || isTriggeredBy(workspace, files));

const maxTries = 5;

/** The pull request as read from the forge, and the number of its newest commit. */
const look = async (
  { access, repository }: Handling,
  number: number,
): Promise<{ pull: Pull | undefined; n: number }> => {
  for (let i = 0; i < maxTries; i++) {
    const seen = await getPullRequest(repository.id, number);
    const pull = await pullForges[repository.dialect].pull(access.call, repository.identifier, number);
    if (!pull?.open || pull.fromFork) return { pull, n: 0 };
    const claimed = await claimPull(repository.id, number, pull, seen);
    if (claimed) return { pull, n: claimed.n };
  }
  throw new Error(`pull request ${number} of ${repository.id} changed during every attempt`);
};

/** A user's request to plan the newest commit again. */
export interface PlanRequest {
  /** Distinguishes its plans from earlier ones; repeats create the same plans. */
  id: string;
  userId: string;
  author: string;
  /** Name of one workspace; absent: all that the pull request affects. */
  workspace: string | undefined;
  granted(workspaceId: string): Granted;
}

interface Planning {
  handling: Handling;
  request: PlanRequest | undefined;
  followed: Followed & { pull: Pull };
  n: number;
  earlier: Map<string, PullRun>;
  outdate(runId: string, why: string): Promise<void>;
}

/** True when its plan is queued for the first time. */
const planIn = async (
  workspace: Workspace,
  { handling, request, followed, n, earlier, outdate }: Planning,
): Promise<boolean> => {
  const { repository, orchestration } = handling;
  const { pull, commit, at } = followed;
  const id = idFor('run', workspace, followed);
  const before = earlier.get(workspace.id);
  if (before?.runId === id || (before && before.n > n)) return false;
  checkStarts(workspace);
  const version = await versionFor(workspace, followed);
  await registerRun(commitOf(followed), { workspaceId: workspace.id, runId: id, at });
  const message = commit.message || `Commit ${pull.headSha.slice(0, 7)}`;
  const by = request && { userId: request.userId, granted: request.granted(workspace.id) };
  // From its version, because the setting may have changed since.
  const savePlan = version.provisional;
  const planOnly = !savePlan;
  await orchestration.queueRun({ id, workspace, version, message, planOnly, savePlan, commit: commitOf(followed), by });
  const newer = request ? 'planned again' : `a newer commit was pushed to #${pull.number}`;
  const run = { workspaceId: workspace.id, runId: id, n, saved: savePlan };
  if (await keepPullRun(repository.id, pull.number, run, ({ runId }) => outdate(runId, newer))) return true;
  // A newer commit was planned meanwhile.
  await outdate(id, newer);
  return false;
};

const planPull = async (
  handling: Handling,
  { pull, n, sender: by, request }: { pull: Pull; n: number; sender: Sender | null; request?: PlanRequest },
  organization: Organization | undefined,
): Promise<Outcome> => {
  const { access, repository, followers, orchestration } = handling;
  const { identifier } = repository;
  const name = `pull request #${pull.number} of ${identifier}`;
  const base = followers.filter(plansOf(pull, repository.defaultBranch));
  const files = base.some(filters)
    ? await pullForges[repository.dialect].pullFiles(access.call, identifier, pull.number)
    : undefined;
  const concerned = base.filter(isConcerned(pull, repository.defaultBranch, files)).filter(mayStart);
  const earlier = new Map((await pullRunsOf(repository.id, pull.number)).map((row) => [row.workspaceId, row]));
  const managed = organization?.speculativePlanManagementEnabled ?? true;
  const outdate = async (runId: string, why: string): Promise<void> => {
    if (managed) await orchestration.cancelOutdated(runId, why);
  };
  const stays = new Set(concerned.map(({ id }) => id));
  await forEach(
    [...earlier.values()].filter(({ workspaceId }) => !stays.has(workspaceId)),
    async (row) => {
      await outdate(row.runId, `#${pull.number} no longer affects this workspace`);
      await remove({ pk: row.pk, sk: row.sk });
    },
  );
  const short = pull.headSha.slice(0, 7);
  if (concerned.length === 0) {
    if (base.length > 0) await postUntriggered(repository, pull.headSha, organization);
    return {
      message: `Skipped: ${name} (${short}) affects none of the ${counted(base.length, 'workspace')} that follow ${pull.base}`,
    };
  }
  const wanted = request ? concerned.filter((workspace) => mayPlan(workspace, request)) : concerned;
  if (wanted.length === 0) {
    return { message: `Skipped: ${name} affects no workspace of that name in which ${request?.author} may plan` };
  }
  const archives = await fetchFor(repository, pull.headSha, wanted);
  const commit = await commitAt(access, repository, pull.headSha);
  const followed = {
    access,
    repository,
    commit,
    archives,
    at: now(),
    what: `pull ${pull.number} ${pull.base}${request ? ` ${request.id}` : ''}`,
    branch: pull.headBranch,
    pull,
    sender: by ?? pull.sender,
    changedFiles: files,
  };
  let queued = 0;
  await forEach(wanted, async (workspace) => {
    if (await planIn(workspace, { handling, request, followed, n, earlier, outdate })) queued++;
  });
  if (queued === 0) return { message: `Processing skipped for duplicate commit SHA ${short} of ${name}` };
  return { message: `Queued ${counted(queued, 'speculative plan')} for ${name} at ${short}` };
};

const mayPlan = ({ id, name }: Workspace, { workspace, granted }: PlanRequest): boolean =>
  (workspace === undefined || workspace === name) && granted(id).has('run:plan');

const handleNumber = async (
  handling: Handling,
  number: number,
  by: { sender: Sender | null; request?: PlanRequest },
  organization: Organization | undefined,
): Promise<Outcome> => {
  const name = `pull request #${number} of ${handling.repository.identifier}`;
  const { pull, n } = await look(handling, number);
  if (!pull?.open) {
    await discardPlans(handling, number);
    const released = await releasePull(handling, number);
    const rest =
      released > 0 ? `; ${counted(released, 'workspace')} that it was applied to follow the branch again` : '';
    return { message: `Nothing to plan: ${name} is closed${rest}` };
  }
  if (pull.fromFork)
    return {
      message: `Skipped: ${name} comes from a fork, or was pushed without a branch. Such pull requests are never planned.`,
    };
  return planPull(handling, { pull, n, ...by }, organization);
};

export const handlePull = (
  handling: Handling,
  { number, sender }: Extract<RepositoryTask, { kind: 'pull' }>,
  organization: Organization | undefined,
): Promise<Outcome> => handleNumber(handling, number, { sender }, organization);

/** Plans again in workspaces where the requester has the permission. */
export const planAgain = (
  handling: Handling,
  number: number,
  request: PlanRequest,
  organization: Organization | undefined,
): Promise<Outcome> => handleNumber(handling, number, { sender: null, request }, organization);
