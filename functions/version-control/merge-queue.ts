import { now } from '#platform/store/time.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { registerRun } from './commit-records.ts';
import { postUntriggered } from './commit-status.ts';
import { commitOf, idFor, versionFor } from './commit-versions.ts';
import type { RepositoryTask } from './deliveries.ts';
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
import { isConcerned, plansOf } from './pulls.ts';
import { filters } from './triggers.ts';

/**
 * Merge queues: a group contains the branch's future head, and the queue waits for the status of its commit. It is
 * planned like a pull request to the branch. Only accounts with write access to the repository can add to its queue.
 */

type Group = Extract<RepositoryTask, { kind: 'merge' }>;

export const handleMergeGroup = async (
  handling: Handling,
  { branch, before, sha, sender }: Group,
  organization: Organization | undefined,
): Promise<Outcome> => {
  const { access, repository, followers, orchestration } = handling;
  const { identifier, defaultBranch } = repository;
  const name = `the merge group ${sha.slice(0, 7)} of ${branch} in ${identifier}`;
  const base = followers.filter(plansOf({ base: branch }, defaultBranch));
  const files = base.some(filters) ? await access.forge.changedFiles(access.call, identifier, before, sha) : undefined;
  const concerned = base.filter(isConcerned({ base: branch }, defaultBranch, files)).filter(mayStart);
  if (concerned.length === 0) {
    if (base.length > 0) await postUntriggered(repository, sha, organization);
    return {
      message: `Skipped: ${name} affects none of the ${counted(base.length, 'workspace')} that follow ${branch}`,
    };
  }
  const archives = await fetchFor(repository, sha, concerned);
  const commit = await commitAt(access, repository, sha);
  const at = now();
  const what = `merge ${branch}`;
  const speculative = true;
  const followed = { access, repository, commit, archives, at, what, branch, speculative, sender, changedFiles: files };
  await forEach(concerned, async (workspace) => {
    checkStarts(workspace);
    const id = idFor('run', workspace, followed);
    const version = await versionFor(workspace, followed);
    await registerRun(commitOf(followed), { workspaceId: workspace.id, runId: id, at });
    const message = commit.message || `Commit ${sha.slice(0, 7)}`;
    await orchestration.queueRun({ id, workspace, version, message, planOnly: true, commit: commitOf(followed) });
  });
  return { message: `Queued ${counted(concerned.length, 'speculative plan')} for ${name}` };
};
