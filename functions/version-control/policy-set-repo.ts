import { randomUUID } from 'node:crypto';
import type { ApiRequest } from '#api/request.ts';
import { logWarning } from '#platform/store/log.ts';
import { now } from '#platform/store/time.ts';
import type { PolicySet } from '#resources/policies/set-records.ts';
import type { VcsRepo } from '#resources/workspaces/records.ts';
import { vcsRepoIn } from '#resources/workspaces/vcs-repo-input.ts';
import { accessBy } from './access.ts';
import { keepDelivery } from './deliveries.ts';
import { followsOf } from './follows.ts';
import { commitAt } from './handling.ts';
import { policyVersionFor } from './policy-set-versions.ts';
import { type FollowedRepository, getRepository, unfollow } from './repositories.ts';
import {
  type Choice,
  checkOrganizationScoped,
  chosen,
  followChoice,
  isSame,
  refused,
  wantedFrom,
} from './repository-choice.ts';

/** Connects policy sets to repositories (HCP API: policy sets, `vcs-repo`). */

/** A validated request, not written yet. */
export type PreparedSet =
  | { kind: 'disconnect' }
  /** The repository stays; its other settings change. */
  | { kind: 'change'; vcsRepo: VcsRepo }
  | ({ kind: 'connect' } & Choice);

/** Validates `vcs-repo` of a request. Undefined when nothing changes. @throws {ApiError} 422 */
export const preparePolicySetRepo = async (
  request: ApiRequest,
  organization: string,
  current?: PolicySet,
): Promise<PreparedSet | undefined> => {
  const given = vcsRepoIn(request);
  const before = current?.vcsRepo;
  if (given === null) return before ? { kind: 'disconnect' } : undefined;
  if (!given) return undefined;
  const wanted = wantedFrom(given, before);
  if (wanted.tagsRegex) throw refused('tags-regex', 'cannot be set: policy sets follow a branch');
  await checkOrganizationScoped(wanted, organization);
  if (before && isSame(before, wanted)) return { kind: 'change', vcsRepo: { ...before, ...wanted } };
  return { kind: 'connect', ...(await chosen(wanted)) };
};

/** Writes the validated connection. @throws {ApiError} 422 */
export const connectPolicySet = async (prepared: PreparedSet, setId: string): Promise<VcsRepo | null> => {
  if (prepared.kind === 'disconnect') return null;
  return prepared.kind === 'change' ? prepared.vcsRepo : followChoice(prepared, setId);
};

/**
 * Creates the set's version from the branch's commit, for the next reader of the set. Undefined when the forge does
 * not answer.
 */
const versionNow = async (
  set: PolicySet,
  repository: FollowedRepository,
  look: string,
): Promise<string | undefined> => {
  // Taken before reading the branch, so that a push handled meanwhile gets a later version.
  const at = now();
  try {
    const access = await accessBy(repository.tokenId, { repository: repository.identifier });
    const branch = set.vcsRepo?.branch || repository.defaultBranch;
    const sha = await access.forge.branch(access.call, repository.identifier, branch);
    if (!sha) return undefined;
    const commit = await commitAt(access, repository, sha);
    return (await policyVersionFor(set, { access, repository, commit, what: `look ${look}`, at }))?.id;
  } catch (error) {
    logWarning('fetching the policies was postponed', { policySet: set.id, error: (error as Error).name });
    return undefined;
  }
};

/** Runs after the write of the set's record: leaves the former repository, and fetches from the new one. */
export const settlePolicySet = async (before: PolicySet | undefined, after: PolicySet): Promise<void> => {
  const [from, to] = [before?.vcsRepo, after.vcsRepo];
  if (from && from.repository !== to?.repository) await unfollow(from, after.id);
  if (!to) return;
  const same =
    from &&
    followsOf(from) === followsOf(to) &&
    from.ingressSubmodules === to.ingressSubmodules &&
    before?.policiesPath === after.policiesPath;
  const repository = same ? undefined : await getRepository(to.repository);
  if (!repository) return;
  const id = `connected-${randomUUID()}`;
  const versionId = await versionNow(after, repository, id);
  const task = { kind: 'policySet', policySetId: after.id, ...(versionId ? { versionId } : {}) } as const;
  await keepDelivery({ uuid: repository.uuid, id, repository: repository.id, task });
};

/** Undoes a connection whose change failed. */
export const abandonPolicySetRepo = async (set: PolicySet, given: VcsRepo | null | undefined): Promise<void> => {
  if (given && given.repository !== set.vcsRepo?.repository) {
    await unfollow(given, set.id);
  }
};

/** For a deleted set. */
export const leavePolicySetRepo = async ({ id, vcsRepo }: PolicySet): Promise<void> => {
  if (vcsRepo) await unfollow(vcsRepo, id);
};
