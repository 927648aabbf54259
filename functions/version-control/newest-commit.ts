import { heldBy } from '#resources/workspaces/document.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { claimMove, commitOf, type Followed, idFor, versionFor } from './commit-versions.ts';
import { followsOf } from './follows.ts';
import { checkStarts, commitAt, fetchFor, type Handling, type Outcome } from './handling.ts';
import { moveBranch } from './moves.ts';

/** Makes a branch's commit a workspace's configuration, and starts a run. */

/** `held`: an applied pull request is not merged yet. */
export type RunOutcome = 'queued' | 'outdated' | 'kept' | 'held';

export const runCommit = async (
  { orchestration }: Handling,
  workspace: Workspace,
  followed: Followed & { n: number },
  starts: boolean,
): Promise<RunOutcome> => {
  const claimed = await claimMove(workspace, followed.n);
  if (!claimed) return 'outdated';
  const version = await versionFor(workspace, followed);
  if (heldBy(claimed) !== undefined) return 'held';
  if (!starts) return 'kept';
  checkStarts(workspace);
  const queued = await orchestration.queueRun({
    id: idFor('run', workspace, followed),
    workspace,
    version,
    message: followed.commit.message || `Commit ${followed.commit.sha.slice(0, 7)}`,
    planOnly: false,
    commit: commitOf(followed),
    move: {
      repository: followed.repository.id,
      follows: workspace.vcsRepo ? followsOf(workspace.vcsRepo) : '',
      n: followed.n,
    },
  });
  if (queued) return 'queued';
  const current = await getWorkspace(workspace.id);
  return current && heldBy(current) !== undefined ? 'held' : 'outdated';
};

/**
 * Makes the newest followed commit the workspace's configuration, and starts its first run if that is allowed
 * automatically.
 */
export const handleWorkspace = async (handling: Handling, workspace: Workspace, starts: boolean): Promise<Outcome> => {
  const { access, repository } = handling;
  const { identifier, defaultBranch } = repository;
  const vcsRepo = workspace.vcsRepo;
  if (!vcsRepo || vcsRepo.repository !== repository.id)
    return { message: `Skipped: ${workspace.name} now follows another repository or branch` };
  const branch = vcsRepo.branch || defaultBranch;
  const sha = await access.forge.branch(access.call, identifier, branch);
  if (!sha) return { level: 'error', message: `Branch ${branch} no longer exists in ${identifier}` };
  const task = { kind: 'push', branch, before: null, after: sha, forced: false, compareUrl: null } as const;
  const about = { ...task, repositoryId: repository.forgeId, defaultBranch, sender: null };
  const moved = await moveBranch(handling, about, { repeat: true });
  if (moved === 'duplicate' || moved === 'gone')
    return { message: `Skipped: ${branch} of ${identifier} has no new commit` };
  const archives = await fetchFor(repository, moved.to, [workspace]);
  const commit = await commitAt(access, repository, moved.to);
  // Without a matching tag yet, the workspace gets the branch's commit.
  const n = vcsRepo.tagsRegex ? 0 : moved.n;
  const what = `push ${branch} ${moved.n}`;
  // The same commit with submodules is a new configuration.
  const { receivedAt } = handling.delivery;
  const at = receivedAt > moved.at ? receivedAt : moved.at;
  const followed = { access, repository, commit, archives, n, at, what, branch, sender: null };
  const outcome = await runCommit(handling, workspace, followed, starts);
  const words = {
    queued: 'Queued a run',
    kept: 'Kept the configuration',
    outdated: 'Skipped (there is a newer commit)',
    held: 'Kept the configuration (an applied pull request is not merged yet)',
  };
  return { message: `${words[outcome]} for ${branch} ${moved.to.slice(0, 7)} of ${identifier} in ${workspace.name}` };
};
