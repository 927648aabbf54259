import type { Organization } from '../people/organizations/records.ts';
import { type Key, keys } from '../store/keys.ts';
import { put, queryAll, remove } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { Workspace } from '../workspaces/records.ts';
import { postUntriggered, registerRun } from './commit-status.ts';
import { commitOf, type Followed, idFor, versionFor } from './commit-versions.ts';
import type { Matter } from './deliveries.ts';
import { follows } from './follows.ts';
import type { Pull } from './forges/forge.ts';
import { commitAt, counted, fetchFor, forEach, type Handling, mayStart, type Outcome } from './handling.ts';
import { concerns, filters } from './triggers.ts';

/**
 * Pull requests: speculative plans of their newest commit. What a delivery says of one is old by the time it is handled, so
 * the forge is asked. A fork's is never planned: a plan runs its author's code with the workspace's credentials.
 */

interface PullRun extends Key {
  workspaceId: string;
  runId: string;
}

const runsOf = (repository: string, number: number): Promise<PullRun[]> => {
  const { pk, sk } = keys.pullRun(repository, number, '');
  return queryAll<PullRun>({ pk, prefix: sk });
};

/** Whether the workspace plans pull requests to that branch. */
const plansOf =
  ({ base }: Pull, defaultBranch: string) =>
  ({ vcsRepo, speculativeEnabled, executionMode }: Workspace): boolean =>
    vcsRepo != null && speculativeEnabled && executionMode !== 'local' && follows(vcsRepo, base, defaultBranch);

const isConcerned =
  (pull: Pull, defaultBranch: string, files: string[] | undefined) =>
  (workspace: Workspace): boolean =>
    workspace.vcsRepo != null &&
    follows(workspace.vcsRepo, pull.base, defaultBranch) &&
    (workspace.vcsRepo.tagsRegex !== null || concerns(workspace, files));

const keptSeconds = 90 * 86_400;

export const handlePull = async (
  handling: Handling,
  matter: Extract<Matter, { kind: 'pull' }>,
  organization: Organization | undefined,
): Promise<Outcome> => {
  const { access, repository, followers, doings } = handling;
  const { identifier } = repository;
  const name = `pull request #${matter.number} of ${identifier}`;
  const pull = await access.forge.pull(access.call, identifier, matter.number);
  if (!pull?.open) return { message: `Nothing to plan: ${name} is closed` };
  if (pull.fromFork) return { message: `Skipped: ${name} comes from a fork, which is never planned` };
  const base = followers.filter(plansOf(pull, repository.defaultBranch));
  const files = base.some(filters) ? await access.forge.pullFiles(access.call, identifier, pull.number) : undefined;
  const concerned = base.filter(isConcerned(pull, repository.defaultBranch, files)).filter(mayStart);
  const earlier = new Map((await runsOf(repository.id, pull.number)).map((row) => [row.workspaceId, row]));
  const managed = organization?.speculativePlanManagementEnabled ?? true;
  const outdate = async (row: PullRun | undefined, why: string): Promise<void> => {
    if (row && managed) await doings.cancelOutdated(row.runId, why);
  };
  const stays = new Set(concerned.map(({ id }) => id));
  await forEach(
    [...earlier.values()].filter(({ workspaceId }) => !stays.has(workspaceId)),
    async (row) => {
      await outdate(row, `#${pull.number} does not concern this workspace any more`);
      await remove({ pk: row.pk, sk: row.sk });
    },
  );
  const short = pull.headSha.slice(0, 7);
  if (concerned.length === 0) {
    if (base.length > 0) await postUntriggered(repository, pull.headSha, organization);
    return {
      message: `Skipped: ${name} (${short}) concerns none of the ${counted(base.length, 'workspace')} that follow ${pull.base}`,
    };
  }
  const archive = await fetchFor(repository, pull.headSha);
  const commit = await commitAt(access, repository, pull.headSha);
  const what = `pull ${pull.number} ${pull.base}`;
  const sender = matter.sender ?? pull.sender;
  const at = now();
  const followed: Followed = {
    access,
    repository,
    commit,
    archive,
    at,
    what,
    branch: pull.headBranch,
    pull,
    sender,
    changedFiles: files,
  };
  let queued = 0;
  await forEach(concerned, async (workspace) => {
    const id = idFor('run', workspace, followed);
    const before = earlier.get(workspace.id);
    if (before?.runId === id) return;
    await outdate(before, `a newer commit was pushed to #${pull.number}`);
    const version = await versionFor(workspace, followed);
    await registerRun(commitOf(followed), { workspaceId: workspace.id, runId: id, at });
    const message = commit.message || `Commit ${short}`;
    await doings.queueRun({ id, workspace, version, message, planOnly: true, commit: commitOf(followed) });
    const expiresAt = Math.floor(Date.now() / 1000) + keptSeconds;
    const row = { workspaceId: workspace.id, runId: id, expiresAt };
    await put({ ...keys.pullRun(repository.id, pull.number, workspace.id), ...row });
    queued++;
  });
  if (queued === 0) return { message: `Processing skipped for duplicate commit SHA ${short} of ${name}` };
  return { message: `Queued ${counted(queued, 'speculative plan')} for ${name} at ${short}` };
};
