import { settleWaiting } from '../version-control/archives.ts';
import { fetchCommit } from '../version-control/fetch-commit.ts';
import { configurationSettled } from './fetching.ts';

/** Fetches a commit once for all its followers, then resumes the runs that wait for it. */
export const handler = async ({ archive }: { archive: string }): Promise<void> => {
  const settled = await fetchCommit(archive);
  if (settled) await settleWaiting(settled, configurationSettled);
};
