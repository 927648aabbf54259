import { environment } from '../environment.ts';
import { getOrganization } from '../people/organizations/records.ts';
import { logError } from '../store/log.ts';
import { getWorkspace, getWorkspaces, type Workspace } from '../workspaces/records.ts';
import { accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import { handleComment } from './comments.ts';
import { type Delivery, finishDelivery, getDelivery, type Matter, postponeDelivery } from './deliveries.ts';
import { follows } from './follows.ts';
import { type ForgeError, mayPass } from './forge-error.ts';
import { pullForges } from './forges/pull-forges.ts';
import {
  commitAt,
  counted,
  type Doings,
  fetchFor,
  forEach,
  type Handling,
  mayStart,
  type Outcome,
} from './handling.ts';
import { release } from './merge-locks.ts';
import { type Moved, moveBranch } from './moves.ts';
import { handleWorkspace, type RunOutcome, runCommit } from './newest-commit.ts';
import { handlePull } from './pulls.ts';
import { type FollowedRepository, getRepository, listFollowers } from './repositories.ts';
import { concerns, filters, matchesTag } from './triggers.ts';
import { recordVcsEvent } from './vcs-events.ts';
import { ensureWebhook } from './webhooks.ts';

/** From what happened at a forge to runs. */

const runMove = async (
  handling: Handling,
  matter: Extract<Matter, { kind: 'push' | 'tag' }>,
  moved: Moved,
): Promise<Outcome> => {
  const { access, repository, followers } = handling;
  const { identifier } = repository;
  const [tag, branch] = matter.kind === 'tag' ? [matter.tag, ''] : [undefined, matter.branch];
  const running = followers.filter(({ executionMode }) => executionMode !== 'local');
  const asks = tag === undefined && moved.from !== undefined && running.some(filters);
  const changedFiles = asks
    ? await access.forge.changedFiles(access.call, identifier, moved.from ?? '', moved.to)
    : undefined;
  const concerned = running.filter((workspace) => tag !== undefined || concerns(workspace, changedFiles));
  const short = moved.to.slice(0, 7);
  if (concerned.length === 0) {
    return {
      message: `Skipped: no changed file concerns the ${counted(followers.length, 'workspace')} that follow ${branch} (${short}) in ${identifier}`,
    };
  }
  const archive = await fetchFor(repository, moved.to);
  const commit = await commitAt(access, repository, moved.to);
  const compareUrl = matter.kind === 'push' && matter.after === moved.to ? matter.compareUrl : null;
  const what = `${tag === undefined ? 'push' : 'tag'} ${tag ?? branch} ${moved.n}`;
  const { n, at } = moved;
  const followed = {
    access,
    repository,
    commit,
    archive,
    n,
    at,
    what,
    branch,
    tag,
    compareUrl,
    sender: matter.sender,
    changedFiles,
  };
  const counts: Record<RunOutcome, number> = { queued: 0, outdated: 0, kept: 0, held: 0 };
  await forEach(concerned, async (workspace) => {
    counts[await runCommit(handling, workspace, followed, mayStart(workspace))]++;
  });
  const { queued, outdated, kept, held } = counts;
  const rest = [
    ...(kept
      ? [`${counted(kept, 'workspace')} without a first run kept the configuration (queue-all-runs is off)`]
      : []),
    ...(held ? [`${counted(held, 'workspace')} kept the configuration until an applied pull request is merged`] : []),
    ...(outdated ? [`${counted(outdated, 'workspace')} already had a newer commit`] : []),
  ];
  return {
    message: [`Queued ${counted(queued, 'run')} for ${tag ?? branch} ${short} in ${identifier}`, ...rest].join('; '),
  };
};

const handlePush = async (handling: Handling, matter: Extract<Matter, { kind: 'push' | 'tag' }>): Promise<Outcome> => {
  const { repository } = handling;
  const moved = await moveBranch(handling, matter);
  if (moved === 'duplicate') {
    const name = matter.kind === 'tag' ? matter.tag : matter.branch;
    return { message: `Processing skipped for duplicate commit SHA of ${name} in ${repository.identifier}` };
  }
  if (moved === 'gone') return { message: `Skipped: the branch is gone from ${repository.identifier}` };
  return runMove(handling, matter, moved);
};

/** Should the delivery that it was merged or closed have been lost. */
const releaseMerged = async ({ access, repository }: Handling, { id, vcsPull }: Workspace): Promise<void> => {
  if (vcsPull?.repository !== repository.id) return;
  const pull = await pullForges[repository.dialect].pull(access.call, repository.identifier, vcsPull.number);
  if (!pull?.open) await release(id, vcsPull);
};

const concernedBy = (matter: Matter, { defaultBranch }: FollowedRepository) => {
  return ({ vcsRepo }: Workspace): boolean => {
    if (!vcsRepo) return false;
    if (matter.kind === 'tag') return vcsRepo.tagsRegex !== null && matchesTag(vcsRepo.tagsRegex, matter.tag);
    if (matter.kind === 'push' || matter.kind === 'gone') {
      return !vcsRepo.tagsRegex && follows(vcsRepo, matter.branch, defaultBranch);
    }
    return true;
  };
};

const nobody = (matter: Matter, { identifier }: FollowedRepository): string => {
  const name =
    matter.kind === 'tag' ? `tag ${matter.tag}` : matter.kind === 'push' ? `branch ${matter.branch}` : 'this';
  return `Skipped: no workspace follows ${name} of ${identifier}`;
};

const decide = async (delivery: Delivery, repository: FollowedRepository, doings: Doings): Promise<Outcome> => {
  const { matter } = delivery;
  if (matter.kind === 'connected' || matter.kind === 'check') {
    const workspace = await getWorkspace(matter.workspaceId);
    if (!workspace) return { message: 'Skipped: the workspace was deleted' };
    const access = await accessBy(repository.tokenId, { patient: true });
    const first = workspace.runCount === 0 && workspace.queueAllRuns;
    const starts = matter.kind === 'check' ? mayStart(workspace) : first;
    const handling = { delivery, repository, access, followers: [workspace], doings };
    if (matter.kind === 'check') await releaseMerged(handling, workspace);
    const outcome = await handleWorkspace(handling, workspace, starts);
    // Who checks has missed a delivery: its webhook may have been deleted or changed at the forge.
    if (matter.kind === 'check') await ensureWebhook(access, repository, environment.publicUrl);
    return outcome;
  }
  const ids = (await listFollowers(repository.id)).map(({ workspaceId }) => workspaceId);
  const all = (await getWorkspaces(ids)).filter(({ vcsRepo }) => vcsRepo?.repository === repository.id);
  const followers = all.filter(concernedBy(matter, repository));
  if (followers.length === 0) return { message: nobody(matter, repository) };
  if (matter.kind === 'gone') {
    return {
      message: `Branch ${matter.branch} of ${repository.identifier} was deleted; ${counted(followers.length, 'workspace')} keep the last commit`,
    };
  }
  const access = await accessBy(repository.tokenId, { patient: true });
  const handling = { delivery, repository, access, followers, doings };
  if (matter.kind === 'pull') return handlePull(handling, matter, await getOrganization(repository.organization));
  if (matter.kind === 'comment') return handleComment(handling, matter);
  return handlePush(handling, matter);
};

/**
 * Does what a delivery is about, and says what came of it. May be repeated; what may pass is tried again by the sweep.
 */
export const handleDelivery = async ({ uuid, id }: { uuid: string; id: string }, doings: Doings): Promise<void> => {
  const delivery = await getDelivery(uuid, id);
  if (!delivery || delivery.doneAt) return;
  const repository = await getRepository(delivery.repository);
  if (!repository) return finishDelivery(delivery, 'Skipped: nothing follows the repository any more');
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
    const outcome = await decide(delivery, repository, doings);
    await tell(outcome);
    await finishDelivery(delivery, outcome.message);
  } catch (error) {
    const { message } = asForgeError('Version control', error) as ForgeError;
    if (!mayPass(error)) {
      await tell({
        level: 'error',
        message: `${identifier}: ${message}`,
        suggestedAction: 'Check the connection, then deliver again.',
      });
      return finishDelivery(delivery, message);
    }
    logError('delivery failed', error, { delivery: id, repository: repository.id });
    const again = await postponeDelivery(delivery, message);
    if (!again)
      await tell({ level: 'error', message: `${identifier}: given up. ${message}`, suggestedAction: 'Deliver again.' });
  }
};
