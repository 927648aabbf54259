import { derivedId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import {
  type ConfigurationVersion,
  createCommitVersion,
  getConfigurationVersion,
} from '#resources/configurations/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { type Ingress, type Run, versionControl } from '#run/run.ts';
import type { Access } from './access.ts';
import { archiveFor, type CommitArchives, getArchive, settleVersion, waitForArchive } from './archives.ts';
import { followsOf } from './follows.ts';
import type { Commit, Pull, Sender } from './forges/forge.ts';
import { fetchLater } from './handling.ts';
import type { FollowedRepository } from './repositories.ts';
import { providerOf } from './service-providers.ts';

/** Commits as configuration versions of the workspaces that follow them. */

export interface Followed {
  access: Access;
  repository: FollowedRepository;
  commit: Commit;
  archives: CommitArchives;
  /** Sequence number of the branch's move; absent for pull requests. */
  n?: number;
  /** When the platform received the commit. */
  at: string;
  /** Identifies the version, together with workspace and commit: `push main 3`. */
  what: string;
  branch: string;
  tag?: string;
  pull?: Pull;
  /** The configuration must never be applied. */
  speculative?: boolean;
  compareUrl?: string | null;
  sender: Sender | null;
  changedFiles?: string[];
}

const ingressOf = ({ repository, commit, pull, sender, ...of }: Followed): Ingress => {
  const name = sender?.username ?? commit.author;
  return {
    fromForge: true,
    commitSha: commit.sha,
    commitMessage: commit.message,
    commitUrl: commit.url || null,
    branch: of.branch || null,
    identifier: repository.identifier,
    cloneUrl: repository.cloneUrl || null,
    senderUsername: name,
    onDefaultBranch: of.branch === repository.defaultBranch,
    ...(of.compareUrl ? { compareUrl: of.compareUrl } : {}),
    ...(of.tag ? { tag: of.tag } : {}),
    ...(pull ? { pullRequest: { number: pull.number, url: pull.url, title: pull.title, body: pull.body } } : {}),
    ...(sender?.avatarUrl ? { senderAvatarUrl: sender.avatarUrl } : {}),
    ...(sender?.htmlUrl ? { senderHtmlUrl: sender.htmlUrl } : {}),
  };
};

/** Marks a run that counts for the commit's status. */
export const commitOf = ({ repository, commit }: Followed): NonNullable<Run['commit']> => ({
  tokenId: repository.tokenId,
  identifier: repository.identifier,
  sha: commit.sha,
});

/** Always the same id for the same workspace and commit. */
export const idFor = (
  prefix: 'cv' | 'run',
  { id, vcsRepo }: Pick<Workspace, 'id' | 'vcsRepo'>,
  { repository, what, commit }: Followed,
): string =>
  derivedId(prefix, `${id} ${repository.id} ${what} ${commit.sha}${vcsRepo?.ingressSubmodules ? ' submodules' : ''}`);

/** The workspace after the write; undefined when a newer commit was pushed, or the workspace follows another branch. */
export const claimMove = ({ id, vcsRepo }: Workspace, n: number): Promise<Workspace | undefined> => {
  const follows = vcsRepo ? followsOf(vcsRepo) : '';
  return update<Workspace>(keys.workspace(id), {
    set: { vcsMoves: n },
    condition: 'vcsFollows = :follows AND vcsMoves <= :n AND attribute_not_exists(deletedAt)',
    values: { ':follows': follows, ':n': n },
  });
};

/** Creates the commit's version in the workspace; can be repeated. 4 writes, 1 more while it is being fetched. */
export const versionFor = async (workspace: Workspace, followed: Followed): Promise<ConfigurationVersion> => {
  const { archives, at, access, pull, changedFiles } = followed;
  const id = idFor('cv', workspace, followed);
  const applies = workspace.applyBeforeMergeEnabled ?? false;
  const existing = await getConfigurationVersion(id);
  if (existing) return existing;
  const requested = archiveFor(archives, workspace.vcsRepo);
  const archive = await waitForArchive(requested, { versionId: id });
  const stored = archive.status === 'stored';
  // It was archived after it was requested.
  if (requested.status === 'stored' && !stored) await fetchLater(archive);
  const version = await createCommitVersion({
    id,
    organization: workspace.organization,
    workspaceId: workspace.id,
    status: stored ? 'uploaded' : 'fetching',
    autoQueueRuns: true,
    speculative: followed.speculative ?? (pull !== undefined && !applies),
    provisional: pull !== undefined && applies,
    source: providerOf(access.client.serviceProvider).source,
    ingress: ingressOf(followed),
    createdBy: versionControl,
    createdAt: at,
    commitArchive: archive.id,
    commit: commitOf(followed),
    ...(stored ? { archive: archive.archive, size: archive.size } : {}),
    ...(changedFiles ? { changedFiles: changedFiles.slice(0, 300) } : {}),
  });
  // The commit may have been fetched after the record was read, before this version's row existed.
  const now = stored ? undefined : await getArchive(archive.id);
  return (now && (await settleVersion(now, id))) ?? version;
};
