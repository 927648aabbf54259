import { settleCommitOfPolicies } from '../policies/set-version-records.ts';
import { settleCommitOfModule } from '../registry/modules/records.ts';
import { type CommitArchive, settleVersion, settleWaiting, type Waiting } from '../version-control/archives.ts';
import { fetchCommit } from '../version-control/fetch-commit.ts';
import { configurationSettled } from './fetching.ts';

/** False while the version is not there yet. */
const settle = async (fetched: CommitArchive, { versionId, moduleId, version }: Waiting): Promise<boolean> => {
  const outcome = fetched.archive ?? { failure: fetched.failure ?? 'The commit could not be fetched.' };
  if (moduleId !== undefined && version !== undefined) return settleCommitOfModule({ moduleId, version }, outcome);
  if (versionId.startsWith('polsetver-')) return settleCommitOfPolicies(versionId, outcome);
  const settled = await settleVersion(fetched, versionId);
  if (settled) await configurationSettled(settled);
  return settled !== undefined;
};

/** Fetches a commit once for all its followers, then resumes the runs that wait for it. */
export const handler = async ({ archive }: { archive: string }): Promise<void> => {
  const settled = await fetchCommit(archive);
  if (settled) await settleWaiting(settled, (waiting) => settle(settled, waiting));
};
