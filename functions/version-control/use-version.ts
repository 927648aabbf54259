import { keys } from '#platform/store/keys.ts';
import { updateExisting } from '#platform/store/table.ts';
import { type ConfigurationVersion, getConfigurationVersion } from '#resources/configurations/records.ts';
import { fetchAgain } from './fetch-again.ts';

const mark = ({ id }: ConfigurationVersion, runId: string): Promise<ConfigurationVersion | undefined> =>
  updateExisting<ConfigurationVersion>(keys.configurationVersion(id), {
    add: { usedBy: new Set([runId]) },
    condition: 'status <> :archived',
    values: { ':archived': 'archived' },
  });

/**
 * Keeps the files of a commit's version until the run has ended (archive-unused.ts); those of an archived one are
 * fetched again. Call it before the run is created. 1 write for a version from version control, none for others.
 * @returns the version with the files that the run uses; `fetching` if it has to wait for them
 */
export const useVersion = async (version: ConfigurationVersion, runId: string): Promise<ConfigurationVersion> => {
  if (!version.commitArchive) return version;
  const marked = await mark(version, runId);
  if (marked) return marked;
  const current = await getConfigurationVersion(version.id);
  if (!current) return version;
  await fetchAgain(current);
  return (await mark(current, runId)) ?? current;
};
