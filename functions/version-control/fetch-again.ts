import { objectSize } from '#platform/store/bucket.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { getArchive, requestArchive, settleVersion, waitForArchive } from './archives.ts';
import { fetchLater } from './handling.ts';

/** Fetches the commit of a version again when its content is missing, so that no new push is needed. */

const dayMs = 86_400_000;

/**
 * Archived configurations are fetched again when a run needs them. Others expire after a day at the earliest: 1 request
 * to S3 for an older one.
 */
const isMissing = async ({ status, archive, createdAt }: ConfigurationVersion): Promise<boolean> => {
  if (status === 'errored' || status === 'archived') return true;
  if (status !== 'uploaded' || !archive || Date.now() - Date.parse(createdAt) < dayMs) return false;
  return (await objectSize(archive.key)) === undefined;
};

/**
 * Fetches a version's commit again if the fetch failed, or the archive was archived or has expired. A fetch that waits
 * for its next attempt makes it now: the caller may know that the forge is up again. Costs nothing for other versions.
 * @returns the version after the call: `fetching`, or unchanged
 */
export const fetchAgain = async (version: ConfigurationVersion): Promise<ConfigurationVersion> => {
  const { id, commitArchive, commit } = version;
  if (!commitArchive || !commit) return version;
  if (version.status === 'fetching') {
    const waiting = await getArchive(commitArchive);
    if (waiting?.retry) await fetchLater(waiting);
    return version;
  }
  if (!(await isMissing(version))) return version;
  const [repository = ''] = commitArchive.split('#');
  const submodules = (await getArchive(commitArchive))?.submodules ?? false;
  const requested = await requestArchive({ ...commit, id: repository }, commit.sha, submodules);
  const archive = await waitForArchive(requested, { versionId: id });
  const waiting = await update<ConfigurationVersion>(keys.configurationVersion(id), {
    set: { status: 'fetching', 'statusTimestamps.fetching-at': now() },
    remove: ['archive', 'errorMessage', 'statusTimestamps.errored-at', 'statusTimestamps.archived-at'],
    condition: 'status = :seen',
    values: { ':seen': version.status },
  });
  if (archive.status === 'fetching') await fetchLater(archive);
  return (await settleVersion(archive, id)) ?? waiting ?? version;
};
