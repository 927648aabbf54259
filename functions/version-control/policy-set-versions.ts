import { derivedId } from '#platform/store/id.ts';
import type { PolicySet } from '#resources/policies/set-records.ts';
import { getPolicySets } from '#resources/policies/set-records.ts';
import {
  createPolicyCommit,
  getPolicySetVersion,
  type PolicySetVersion,
} from '#resources/policies/set-version-records.ts';
import type { Access } from './access.ts';
import { markUnsettled, requestArchive, waitForArchive } from './archives.ts';
import type { RepositoryTask } from './deliveries.ts';
import { follows } from './follows.ts';
import type { Commit } from './forges/forge.ts';
import { commitAt, counted, fetchLater, forEach, type Handling, type Outcome } from './handling.ts';
import { type Moved, moveBranch } from './moves.ts';
import { type FollowedRepository, isPolicySet } from './repositories.ts';
import { providerOf } from './service-providers.ts';
import { matchesPatterns } from './triggers.ts';

/** Commits as versions of the policy sets that follow a repository. */

interface Wanted {
  access: Access;
  repository: FollowedRepository;
  commit: Commit;
  /** Identifies the version, together with set and commit: `push main 3`. */
  what: string;
  /** When the platform received it: the set uses the version with the latest time. */
  at: string;
}

/** Creates the commit's version of the set, and starts fetching it. Can be repeated. */
export const policyVersionFor = async (
  set: Pick<PolicySet, 'id' | 'organization' | 'vcsRepo'>,
  { access, repository, commit, what, at }: Wanted,
): Promise<PolicySetVersion | undefined> => {
  const id = derivedId('polsetver', `${set.id} ${repository.id} ${what} ${commit.sha}`);
  const archive = await requestArchive(repository, commit.sha, set.vcsRepo?.ingressSubmodules ?? false);
  await waitForArchive(archive, { versionId: id });
  const version = await createPolicyCommit(set, {
    id,
    createdAt: at,
    ingress: { commitSha: commit.sha, commitUrl: commit.url, identifier: repository.identifier },
    source: providerOf(access.client.serviceProvider).source,
  });
  await markUnsettled(archive.id);
  await fetchLater(archive);
  return version;
};

const bare = (path: string): string => path.replace(/^(\.?\/)+|\/+$/g, '');

type Settings = Pick<PolicySet, 'policiesPath' | 'policyUpdatePatterns'>;

/** Whether changed files determine whether a version is created. */
export const setFilters = ({ policiesPath, policyUpdatePatterns }: Settings): boolean =>
  bare(policiesPath ?? '') !== '' || Boolean(policyUpdatePatterns?.length);

/** @param paths changed paths; undefined when unknown, which affects every set */
const concernsSet = (set: Settings, paths: string[] | undefined): boolean => {
  if (!paths || !setFilters(set)) return true;
  if (set.policyUpdatePatterns?.length) return matchesPatterns(set.policyUpdatePatterns, paths);
  return paths.some((path) => path.startsWith(`${bare(set.policiesPath ?? '')}/`));
};

/** The sets among the repository's followers that use the branch. */
export const setsOfBranch = async (
  followers: string[],
  { id, defaultBranch }: FollowedRepository,
  branch: string,
): Promise<PolicySet[]> => {
  const sets = await getPolicySets(followers.filter(isPolicySet));
  return sets.filter(({ vcsRepo }) => vcsRepo?.repository === id && follows(vcsRepo, branch, defaultBranch));
};

/** Creates versions of the sets that a push affects. Returns the result for users; undefined when there is none. */
export const renewPolicySets = async (
  { access, repository }: Handling,
  sets: PolicySet[],
  moved: Moved,
  changedFiles: string[] | undefined,
): Promise<string | undefined> => {
  const concerned = sets.filter((set) => concernsSet(set, changedFiles));
  if (concerned.length === 0) return undefined;
  const commit = await commitAt(access, repository, moved.to);
  const what = `push ${moved.branch} ${moved.n}`;
  await forEach(concerned, async (set) => {
    await policyVersionFor(set, { access, repository, commit, what, at: moved.at });
  });
  return `Fetching ${counted(concerned.length, 'policy set')}`;
};

const after = (at: string, before: string): string =>
  at > before ? at : new Date(Date.parse(before) + 1).toISOString();

/**
 * Handles the newest commit for a set that was connected or changed. The request has usually created its version
 * already, unless the branch has moved since, or the forge was unreachable.
 */
export const handlePolicySet = async (
  handling: Handling,
  task: Extract<RepositoryTask, { kind: 'policySet' }>,
): Promise<Outcome> => {
  const { access, repository } = handling;
  const [set] = await getPolicySets([task.policySetId]);
  const vcsRepo = set?.vcsRepo;
  if (!set || vcsRepo?.repository !== repository.id)
    return { message: 'Skipped: the policy set follows another repository or branch' };
  const { identifier, defaultBranch } = repository;
  const branch = vcsRepo.branch || defaultBranch;
  const sha = await access.forge.branch(access.call, identifier, branch);
  if (!sha) return { level: 'error', message: `Branch ${branch} no longer exists in ${identifier}` };
  const early = task.versionId ? await getPolicySetVersion(task.versionId) : undefined;
  const words = `for ${branch} ${sha.slice(0, 7)} of ${identifier} in policy set ${set.name}`;
  const about = { repositoryId: repository.forgeId, defaultBranch, sender: null };
  const push = { kind: 'push', branch, before: null, after: sha, forced: false, compareUrl: null, ...about } as const;
  const moved = await moveBranch(handling, push, { repeat: true });
  if (typeof moved === 'string') return { message: `Skipped: ${branch} of ${identifier} has no new commit` };
  if (early?.ingress?.commitSha === moved.to) return { message: `Fetching the policies ${words}` };
  const commit = await commitAt(access, repository, moved.to);
  const at = after(moved.at, early?.createdAt ?? set.newestVersionAt ?? '');
  // A new version for each request: the set's folder may have changed while its commit has not.
  await policyVersionFor(set, { access, repository, commit, what: `look ${handling.delivery.id}`, at });
  return { message: `Fetching the policies ${words}` };
};
