import { inBatches } from '#platform/store/batches.ts';
import { deleteObject } from '#platform/store/bucket.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { remove, update, updateExisting } from '#platform/store/table.ts';
import { archiveUnusedVersion } from '#resources/configurations/backing-data.ts';
import { readReadme } from '#resources/configurations/readme.ts';
import {
  type ConfigurationVersion,
  getConfigurationVersion,
  getConfigurationVersions,
} from '#resources/configurations/records.ts';
import { getRuns } from '#resources/runs/records.ts';
import { currentConfigurationId } from '#resources/workspaces/document.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { isFinal } from '#run/status.ts';
import { accessBy } from './access.ts';
import { type CommitArchive, isConfiguration, nextCheck, rowsOf, type Waiting } from './archives.ts';
import { asForgeError } from './call.ts';
import { mayPass } from './forge-error.ts';

/**
 * Archives commits that no run needs any more (HCP Terraform: configuration versions, archived): deletes the files, and
 * marks the configuration versions that had them. A later run fetches the commit again (fetch-again.ts).
 *
 * A run marks its version when it is created (use-version.ts). A check removes the marks of ended runs; a check that
 * finds no mark archives the commit, so it stays for at least one interval after its last run.
 */

/** A version is created at once after its row; later, a row without a version is of a deleted workspace. */
const creationMs = 3600_000;

/** Intervals until the next check of a commit that its forge would not return: the connection may be repaired. */
const unfetchableIntervals = 30;

const isStillCreated = ({ at }: Waiting): boolean => Date.now() - Date.parse(at) < creationMs;

/** Whether a run has used the version since the last check. Removes the marks of ended runs. */
const isUsed = async ({ id, status, usedBy }: ConfigurationVersion): Promise<boolean> => {
  if (!usedBy?.size) return status === 'fetching';
  const runs = await getRuns([...usedBy]);
  const open = new Set(runs.filter((run) => run.status && !isFinal(run.status)).map((run) => run.id));
  const ended = new Set([...usedBy].filter((runId) => !open.has(runId)));
  if (ended.size) {
    await updateExisting(keys.configurationVersion(id), { delete: { usedBy: ended } });
  }
  return true;
};

/** Whether the forge would return the commit now, so that deleting its files loses nothing. 2 reads, 1 call of the forge. */
const isFetchable = async ({ tokenId, identifier, sha }: CommitArchive): Promise<'yes' | 'no' | 'unknown'> => {
  try {
    const { forge, call } = await accessBy(tokenId, { patient: true, repository: identifier });
    return (await forge.commit(call, identifier, sha)) ? 'yes' : 'no';
  } catch (error) {
    return mayPass(asForgeError('Version control', error)) ? 'unknown' : 'no';
  }
};

const checkLater = (archive: CommitArchive, intervals = 1) =>
  update(keys.commitArchive(archive.id), {
    set: { status: 'stored', ...nextCheck(archive.id, intervals) },
    condition: 'status IN (:stored, :archiving) AND keepUntil = :seen',
    values: { ':stored': 'stored', ':archiving': 'archiving', ':seen': archive.keepUntil },
  });

/** The page shows the README of a workspace's current configuration, which cannot be read without the files. */
const keepReadme = async (version: ConfigurationVersion): Promise<void> => {
  const workspace = await getWorkspace(version.workspaceId);
  if (workspace && currentConfigurationId(workspace) === version.id) {
    await readReadme(version, workspace.workingDirectory);
  }
};

/** @returns false if a run, or a version that is being created, needs the files */
const giveUp = async (row: Waiting): Promise<boolean> => {
  const version = await getConfigurationVersion(row.versionId);
  if (!version) return !isStillCreated(row);
  if (version.usedBy?.size || version.status === 'fetching') return false;
  if (version.status !== 'uploaded') return true;
  await keepReadme(version);
  return (await archiveUnusedVersion(version.id)) !== undefined;
};

/**
 * Archives the commit if no run has used it since the last check, and the forge would return it. Per version 2 reads
 * and 2 writes, once; while it is used, 1 read per 100 versions and per 100 runs. Can be repeated.
 * @param archive stored, and its check is due; or `archiving`, after an interruption
 */
export const archiveUnused = async (archive: CommitArchive): Promise<void> => {
  const key = keys.commitArchive(archive.id);
  if (archive.status === 'stored') {
    const rows = await rowsOf(archive.id);
    const versions = await getConfigurationVersions(rows.filter(isConfiguration).map(({ versionId }) => versionId));
    const uses = await Promise.all(versions.map(isUsed));
    if (uses.includes(true) || !rows.every(isConfiguration)) return void (await checkLater(archive));
    const fetchable = versions.length ? await isFetchable(archive) : 'yes';
    if (fetchable !== 'yes') return void (await checkLater(archive, fetchable === 'no' ? unfetchableIntervals : 1));
    const claimed = await update(key, {
      set: { status: 'archiving', ...dueIn(archive.id, 60) },
      condition: 'status = :stored AND keepUntil = :seen',
      values: { ':stored': 'stored', ':seen': archive.keepUntil },
    });
    if (!claimed) return;
  }
  const rows = await rowsOf(archive.id);
  let isNeeded = false;
  await inBatches(rows, async (row) => {
    if (!isConfiguration(row) || !(await giveUp(row))) isNeeded = true;
  });
  if (isNeeded) return void (await checkLater(archive));
  if (archive.archive) await deleteObject(archive.archive.key);
  await inBatches(rows, ({ pk, sk }) => remove({ pk, sk }));
  await update(key, {
    set: { status: 'archived' },
    remove: ['archive', 'size', 'keepUntil', ...dueAttributes],
    condition: 'status = :archiving',
    values: { ':archiving': 'archiving' },
  });
};
