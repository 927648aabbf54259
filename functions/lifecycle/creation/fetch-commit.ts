import { environment } from '#platform/environment.ts';
import { invokeLater } from '#platform/store/aws.ts';
import { logError } from '#platform/store/log.ts';
import { now } from '#platform/store/time.ts';
import { compilePolicies } from '#resources/policies/compilation.ts';
import { getPolicySet, type PolicySet } from '#resources/policies/set-records.ts';
import { getPolicySetVersion, settleCommitOfPolicies } from '#resources/policies/set-version-records.ts';
import { getModule, getModuleVersion, type Module } from '#resources/registry/modules/records.ts';
import { settleCommitOfModule } from '#resources/registry/modules/uploads.ts';
import { archiveUnused } from '#version-control/archive-unused.ts';
import { type CommitArchive, settleVersion, settleWaiting, type Waiting } from '#version-control/archives.ts';
import { registerVersion } from '#version-control/commit-records.ts';
import { fetchCommit } from '#version-control/fetch-commit.ts';
import { recordVcsEvent } from '#version-control/vcs-events.ts';
import { configurationSettled } from './fetching.ts';

/** Reports to users that an accepted push or tag had no effect. */
const reportFailure = (
  { tokenId, identifier, sha }: CommitArchive,
  { organization, vcsRepo }: Pick<PolicySet | Module, 'organization' | 'vcsRepo'>,
  failure: string,
): Promise<void> =>
  recordVcsEvent({
    organization,
    clientId: vcsRepo?.clientId ?? null,
    tokenId,
    level: 'error',
    message: `${identifier} at ${sha.slice(0, 7)}: ${failure}`.slice(0, 500),
    suggestedAction: 'Fix it in the repository, and push again.',
  });

/** Also reports the failure in the commit's status. */
const reportPolicyFailures = async (fetched: CommitArchive, versionId: string): Promise<void> => {
  const version = await getPolicySetVersion(versionId);
  const set = version && (await getPolicySet(version.policySetId));
  if (!set) return;
  if (version.status === 'errored') {
    await reportFailure(fetched, set, `policies of ${set.name} could not be read. ${version.errorMessage ?? ''}`);
  }
  const event = await registerVersion(fetched, set, versionId);
  // The sweep repeats a lost invocation.
  await invokeLater(environment.commitStatusFunction, event).catch((error) =>
    logError('commit status not started; the sweep repeats it', error, { commit: event.commit }),
  );
};

const reportModuleFailure = async (fetched: CommitArchive, moduleId: string, number: string): Promise<void> => {
  const module = await getModule(moduleId);
  const version = module && (await getModuleVersion(module.id, number));
  if (!module || !version?.error) return;
  await reportFailure(
    fetched,
    module,
    `${module.name}/${module.provider} ${number} could not be published. ${version.error}`,
  );
};

/** @returns false while the version does not exist yet */
const settle = async (fetched: CommitArchive, { versionId, moduleId, version }: Waiting): Promise<boolean> => {
  const outcome = fetched.archive ?? { failure: fetched.failure ?? 'The commit could not be fetched.' };
  if (moduleId !== undefined && version !== undefined) {
    const settled = await settleCommitOfModule({ moduleId, version }, outcome);
    if (settled) await reportModuleFailure(fetched, moduleId, version);
    return settled;
  }
  if (versionId.startsWith('polsetver-')) {
    const settled = await settleCommitOfPolicies(versionId, outcome, compilePolicies);
    if (settled) await reportPolicyFailures(fetched, versionId);
    return settled;
  }
  const settled = await settleVersion(fetched, versionId);
  if (settled) await configurationSettled(settled);
  return settled !== undefined;
};

/**
 * Fetches a commit once for all its followers, then resumes the runs that wait for it. Later, when the check is due,
 * archives it unless a run needs it.
 */
export const handler = async ({ archive }: { archive: string }): Promise<void> => {
  const settled = await fetchCommit(archive);
  if (!settled || settled.status === 'archived') return;
  if (settled.status === 'archiving') return archiveUnused(settled);
  if (!settled.keepUntil) return settleWaiting(settled, (waiting) => settle(settled, waiting));
  if (settled.keepUntil <= now()) await archiveUnused(settled);
};
