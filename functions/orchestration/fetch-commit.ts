import { settleWaiting } from '../version-control/archives.ts';
import { fetchCommit } from '../version-control/fetch-commit.ts';
import { configurationSettled } from './fetching.ts';

/** A commit that somebody follows: fetched once, then the runs that wait for it go on. */
export const handler = async ({ archive }: { archive: string }): Promise<void> => {
  const settled = await fetchCommit(archive);
  if (settled) await settleWaiting(settled, configurationSettled);
};
