import { environment } from '#platform/environment.ts';
import { logError } from '#platform/store/log.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import type { PolicySet } from '#resources/policies/set-records.ts';
import type { Module } from '#resources/registry/modules/records.ts';
import { DrainingError } from '#resources/workspaces/drain.ts';
import { getWorkspace, getWorkspaces, type Workspace } from '#resources/workspaces/records.ts';
import { accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import { handleComment } from './comments.ts';
import {
  type Delivery,
  finishDelivery,
  getDelivery,
  postponeDelivery,
  type RepositoryTask,
  waitForDrain,
} from './deliveries.ts';
import { follows } from './follows.ts';
import { mayPass } from './forge-error.ts';
import { pullForges } from './forges/pull-forges.ts';
import {
  commitAt,
  counted,
  fetchFor,
  forEach,
  type Handling,
  mayStart,
  type Orchestration,
  type Outcome,
} from './handling.ts';
import { release } from './merge-locks.ts';
import { handleMergeGroup } from './merge-queue.ts';
import { handleModule, modulesOf, publishTag } from './module-versions.ts';
import { type Moved, moveBranch, type Pushed, type PushTask } from './moves.ts';
import { handleWorkspace, type RunOutcome, runCommit } from './newest-commit.ts';
import { handlePolicySet, renewPolicySets, setFilters, setsOfBranch } from './policy-set-versions.ts';
import { handlePull } from './pulls.ts';
import { type FollowedRepository, getRepository, isWorkspace, listFollowers } from './repositories.ts';
import { filters, isTriggeredBy, matchesTag } from './triggers.ts';
import { recordVcsEvent } from './vcs-events.ts';
import { ensureWebhook } from './webhooks.ts';

/** Turns deliveries into runs. */

/** The changed files: requested once, and only if a follower filters by them. */
const changesOf = ({ access, repository }: Handling, moved: Moved): (() => Promise<string[] | undefined>) => {
  let asked: Promise<string[] | undefined> | undefined;
  return () => {
    const { from, to } = moved;
    if (from === undefined) return Promise.resolve(undefined);
    asked ??= access.forge.changedFiles(access.call, repository.identifier, from, to);
    return asked;
  };
};

/** The task with the commit of its tag, which some forges do not tell; undefined if the tag was deleted meanwhile. */
const withCommit = async ({ access, repository }: Handling, task: PushTask): Promise<Pushed | undefined> => {
  if (task.kind === 'push') return task;
  const { tag } = task;
  const sha =
    task.sha ?? (await access.forge.tags(access.call, repository.identifier)).find(({ name }) => name === tag)?.sha;
  return sha ? { ...task, sha } : undefined;
};

const runMove = async (
  handling: Handling,
  task: Pushed,
  moved: Moved,
  changes: () => Promise<string[] | undefined>,
): Promise<string> => {
  const { access, repository, followers } = handling;
  const { identifier } = repository;
  const [tag, branch] = task.kind === 'tag' ? [task.tag, ''] : [undefined, task.branch];
  const running = followers.filter(({ executionMode }) => executionMode !== 'local');
  const changedFiles = tag === undefined && running.some(filters) ? await changes() : undefined;
  const concerned = running.filter((workspace) => tag !== undefined || isTriggeredBy(workspace, changedFiles));
  const short = moved.to.slice(0, 7);
  if (concerned.length === 0) {
    return `Skipped: no changed file affects the ${counted(followers.length, 'workspace')} that follow ${branch} (${short}) in ${identifier}`;
  }
  const archives = await fetchFor(repository, moved.to, concerned);
  const commit = await commitAt(access, repository, moved.to);
  const compareUrl = task.kind === 'push' && task.after === moved.to ? task.compareUrl : null;
  const what = `${tag === undefined ? 'push' : 'tag'} ${tag ?? branch} ${moved.n}`;
  const { n, at } = moved;
  const { sender } = task;
  const of = { access, repository, commit, archives, n, at, what, branch, tag, compareUrl, sender, changedFiles };
  const counts: Record<RunOutcome, number> = { queued: 0, outdated: 0, kept: 0, held: 0 };
  await forEach(concerned, async (workspace) => {
    counts[await runCommit(handling, workspace, of, mayStart(workspace))]++;
  });
  return wordsOf(counts, `${tag ?? branch} ${short} in ${identifier}`);
};

const wordsOf = ({ queued, outdated, kept, held }: Record<RunOutcome, number>, what: string): string =>
  [
    queued || !(kept || held || outdated) ? `Queued ${counted(queued, 'run')} for ${what}` : `No run for ${what}`,
    ...(kept
      ? [`${counted(kept, 'workspace')} without a first run kept the configuration (queue-all-runs is off)`]
      : []),
    ...(held ? [`${counted(held, 'workspace')} kept the configuration until an applied pull request is merged`] : []),
    ...(outdated ? [`${counted(outdated, 'workspace')} already had a newer commit`] : []),
  ].join('; ');

/** Policy sets and modules that the task affects. */
interface Others {
  sets: PolicySet[];
  modules: Module[];
}

const othersOf = async (
  task: RepositoryTask,
  followers: string[],
  repository: FollowedRepository,
): Promise<Others> => ({
  sets: task.kind === 'push' ? await setsOfBranch(followers, repository, task.branch) : [],
  modules: task.kind === 'tag' ? await modulesOf(followers, repository) : [],
});

const handlePush = async (handling: Handling, task: Pushed, { sets, modules }: Others): Promise<Outcome> => {
  const { repository, followers } = handling;
  const published = task.kind === 'tag' ? await publishTag(handling, task, modules) : undefined;
  const words = published ? [published] : [];
  if (followers.length + sets.length > 0) {
    const moved = await moveBranch(handling, task);
    const name = task.kind === 'tag' ? task.tag : task.branch;
    if (moved === 'duplicate') {
      words.push(`Processing skipped for duplicate commit SHA of ${name} in ${repository.identifier}`);
    } else if (moved === 'gone') words.push(`Skipped: the branch was deleted from ${repository.identifier}`);
    else {
      const changes = changesOf(handling, moved);
      const files = sets.some(setFilters) ? await changes() : undefined;
      const renewed = await renewPolicySets(handling, sets, moved, files);
      if (renewed) words.push(renewed);
      else if (sets.length > 0)
        words.push(
          `Skipped: no changed file affects the ${counted(sets.length, 'policy set')} that follow ${name} (${moved.to.slice(0, 7)}) in ${repository.identifier}`,
        );
      if (followers.length > 0) words.push(await runMove(handling, task, moved, changes));
    }
  }
  return { message: words.join('; ') || noFollower(task, repository) };
};

/** Releases the workspace in case the merge's delivery was lost. */
const releaseMerged = async ({ access, repository }: Handling, { id, vcsPull }: Workspace): Promise<void> => {
  if (vcsPull?.repository !== repository.id) return;
  const pull = await pullForges[repository.dialect].pull(access.call, repository.identifier, vcsPull.number);
  if (!pull?.open) await release(id, vcsPull);
};

const concernedBy = (task: RepositoryTask, { defaultBranch }: FollowedRepository) => {
  return ({ vcsRepo }: Workspace): boolean => {
    if (!vcsRepo) return false;
    if (task.kind === 'tag') return vcsRepo.tagsRegex !== null && matchesTag(vcsRepo.tagsRegex, task.tag);
    if (task.kind === 'push' || task.kind === 'gone') {
      return !vcsRepo.tagsRegex && follows(vcsRepo, task.branch, defaultBranch);
    }
    return true;
  };
};

const noFollower = (task: RepositoryTask, { identifier }: FollowedRepository): string => {
  const name = task.kind === 'tag' ? `tag ${task.tag}` : task.kind === 'push' ? `branch ${task.branch}` : 'this';
  return `Skipped: no workspace, policy set or module follows ${name} of ${identifier}`;
};

/** Handles a task of a single follower: a new connection, or a check for a newer commit. Undefined for other tasks. */
const decideOne = async (
  delivery: Delivery,
  repository: FollowedRepository,
  orchestration: Orchestration,
): Promise<Outcome | undefined> => {
  const { task } = delivery;
  const isOne = 'workspaceId' in task || task.kind === 'policySet' || task.kind === 'module';
  if (!isOne) return undefined;
  const workspace = 'workspaceId' in task ? await getWorkspace(task.workspaceId) : undefined;
  if ('workspaceId' in task && !workspace) return { message: 'Skipped: the workspace was deleted' };
  const access = await accessBy(repository.tokenId, { patient: true, repository: repository.identifier });
  const handling = { delivery, repository, access, followers: workspace ? [workspace] : [], orchestration };
  if (task.kind === 'policySet') return handlePolicySet(handling, task);
  if (task.kind === 'module') return handleModule(handling, task);
  return workspace && handleConnected(handling, workspace, task.kind === 'check');
};

/**
 * Whether another repository has taken the connected repository's name. Only requests by name need this check:
 * webhooks come from the connected repository itself.
 */
const isAnother = async ({ access, repository }: Handling): Promise<boolean> => {
  const found = await access.forge.repository(access.call, repository.identifier);
  return found !== undefined && found.id !== repository.forgeId;
};

const handleConnected = async (handling: Handling, workspace: Workspace, isCheck: boolean): Promise<Outcome> => {
  const { access, repository } = handling;
  const first = workspace.runCount === 0 && workspace.queueAllRuns;
  if (isCheck && (await isAnother(handling))) {
    return {
      level: 'error',
      message: `${repository.identifier} is not the repository that ${workspace.name} follows: another repository has taken its name`,
      suggestedAction: 'If this is intended, disconnect everything that follows it and connect it again.',
    };
  }
  if (isCheck) await releaseMerged(handling, workspace);
  const outcome = await handleWorkspace(handling, workspace, isCheck ? mayStart(workspace) : first);
  // A user who starts a check may have missed a delivery, because the webhook was deleted or changed at the forge.
  if (isCheck) await ensureWebhook(access, repository, environment.publicUrl);
  return outcome;
};

const decide = async (
  delivery: Delivery,
  repository: FollowedRepository,
  orchestration: Orchestration,
): Promise<Outcome> => {
  const { task } = delivery;
  const one = await decideOne(delivery, repository, orchestration);
  if (one) return one;
  const ids = await listFollowers(repository.id);
  const all = (await getWorkspaces(ids.filter(isWorkspace))).filter(
    ({ vcsRepo }) => vcsRepo?.repository === repository.id,
  );
  const followers = all.filter(concernedBy(task, repository));
  const others = await othersOf(task, ids, repository);
  if (followers.length + others.sets.length + others.modules.length === 0) {
    return { message: noFollower(task, repository) };
  }
  if (task.kind === 'gone') {
    return {
      message: `Branch ${task.branch} of ${repository.identifier} was deleted; ${counted(followers.length, 'workspace')} keep the last commit`,
    };
  }
  const access = await accessBy(repository.tokenId, { patient: true, repository: repository.identifier });
  const handling = { delivery, repository, access, followers, orchestration };
  if (task.kind === 'merge') {
    return handleMergeGroup(handling, task, await getOrganization(repository.organization));
  }
  if (task.kind === 'pull') return handlePull(handling, task, await getOrganization(repository.organization));
  if (task.kind === 'comment') return handleComment(handling, task);
  const pushed = await withCommit(handling, task as PushTask);
  if (!pushed) return { message: `Skipped: the tag was deleted from ${repository.identifier}` };
  return handlePush(handling, pushed, others);
};

/** Handles a delivery and records its outcome. Can be repeated; the sweep retries temporary failures. */
export const handleDelivery = async (
  { uuid, id }: { uuid: string; id: string },
  orchestration: Orchestration,
): Promise<void> => {
  const delivery = await getDelivery(uuid, id);
  if (!delivery || delivery.doneAt) return;
  const repository = await getRepository(delivery.repository);
  if (!repository)
    return finishDelivery(delivery, 'Skipped: no workspace, policy set or module follows the repository');
  const { organization, clientId, tokenId, identifier } = repository;
  const tell = ({ message, level = 'info', suggestedAction }: Outcome) =>
    recordVcsEvent({
      organization,
      clientId,
      tokenId,
      level,
      message,
      suggestedAction: suggestedAction ?? null,
      delivery: { uuid, id },
    });
  try {
    const outcome = await decide(delivery, repository, orchestration);
    await tell(outcome);
    await finishDelivery(delivery, outcome.message);
  } catch (error) {
    if (error instanceof DrainingError) return waitForDrain(delivery, error.message);
    const { message, failure } = asForgeError('Version control', error);
    if (!mayPass(error)) {
      await tell({
        level: 'error',
        message: `${identifier}: ${message}`,
        suggestedAction: `${failure === 'forbidden' ? 'Ask the operator of this platform' : 'Check the connection'}, then deliver again.`,
      });
      return finishDelivery(delivery, message);
    }
    logError('delivery failed', error, { delivery: id, repository: repository.id });
    const again = await postponeDelivery(delivery, message);
    if (!again)
      await tell({
        level: 'error',
        message: `${identifier}: no more retries. ${message}`,
        suggestedAction: 'Deliver again.',
      });
  }
};
