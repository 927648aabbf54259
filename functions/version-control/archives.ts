import { environment } from '#platform/environment.ts';
import { inBatches } from '#platform/store/batches.ts';
import { objectSize } from '#platform/store/bucket.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { create, get, put, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { inSeconds, now } from '#platform/store/time.ts';
import type { Archive, ConfigurationVersion } from '#resources/configurations/records.ts';
import type { VcsRepo } from '#resources/workspaces/records.ts';
import type { FetchRetry } from '#run/run.ts';
import type { FollowedRepository } from './repositories.ts';

/**
 * Commits as configurations: each is fetched once, for any number of workspaces. The commit's record shows the
 * progress. Each version that waits for its files or has them has a row below, written before the version reads the
 * record, so that the functions that settle and archive the record find all rows.
 */

export interface CommitArchive {
  id: string;
  tokenId: string;
  identifier: string;
  sha: string;
  /** Includes the files of its submodules. */
  submodules?: boolean;
  /** `archiving`: versions still lose it (archive-unused.ts); `archived`: fetched again for the next version. */
  status: 'fetching' | 'stored' | 'errored' | 'archiving' | 'archived';
  archive?: Archive;
  size?: number;
  failure?: string;
  /** The last failed attempt, while another one follows. */
  retry?: FetchRetry;
  /** Number of failed attempts. */
  attempts: number;
  leaseUntil?: string;
  since: string;
  /** It was requested before, so that a forge that does not find the commit has lost it. */
  repeated?: boolean;
  /** Next check whether a run needs it; absent until all waiting versions have it. */
  keepUntil?: string;
}

const archiveId = (repository: string, sha: string, submodules: boolean): string =>
  `${repository}#${sha}${submodules ? '#submodules' : ''}`;

/** Archives of one commit, with or without submodules. */
export type CommitArchives = readonly CommitArchive[];

/** The archive that the follower uses. */
export const archiveFor = (archives: CommitArchives, vcsRepo: VcsRepo | null | undefined): CommitArchive => {
  const wanted = vcsRepo?.ingressSubmodules ?? false;
  const archive = archives.find(({ submodules = false }) => submodules === wanted);
  if (!archive) throw new Error('the archive of the commit was not requested');
  return archive;
};

export const getArchive = (id: string): Promise<CommitArchive | undefined> =>
  get<CommitArchive>(keys.commitArchive(id));

/** The commit's record; created, or reset after a failure, if the commit must be fetched. */
export const requestArchive = async (
  { id: repository, tokenId, identifier }: Pick<FollowedRepository, 'id' | 'tokenId' | 'identifier'>,
  sha: string,
  submodules: boolean,
): Promise<CommitArchive> => {
  const id = archiveId(repository, sha, submodules);
  const key = keys.commitArchive(id);
  const facts = { id, tokenId, identifier, sha, ...(submodules ? { submodules } : {}) };
  const wanted: CommitArchive = { ...facts, status: 'fetching', attempts: 0, since: now() };
  if (await create({ ...key, ...wanted, ...dueIn(sha, 60) })) return wanted;
  const current = await getArchive(id);
  if (current?.status === 'fetching' || (current && !(await isGone(current)))) return current;
  return (await reset(wanted)) ?? (await getArchive(id)) ?? wanted;
};

const reset = ({ id, tokenId, identifier, sha }: CommitArchive): Promise<CommitArchive | undefined> =>
  update<CommitArchive>(keys.commitArchive(id), {
    set: {
      status: 'fetching',
      attempts: 0,
      since: now(),
      tokenId,
      identifier,
      repeated: true,
      ...dueIn(sha, 60),
    },
    remove: ['failure', 'retry', 'leaseUntil', 'keepUntil'],
    condition: 'status <> :fetching',
    values: { ':fetching': 'fetching' },
  });

/**
 * Configurations may expire (infra/settings/settings.ts: configurationRetentionDays), but not earlier than this after they were
 * stored.
 */
const keptMs = 86_400_000;

/** Whether the commit could not be fetched, was archived, or has expired. 1 request to S3 for an old one. */
const isGone = async ({ status, archive, since }: CommitArchive): Promise<boolean> => {
  if (status !== 'stored') return true;
  if (!archive || Date.now() - Date.parse(since) < keptMs) return false;
  return (await objectSize(archive.key)) === undefined;
};

/** A version of a configuration, policy set or module that waits for the commit, or a configuration that has it. */
export interface Waiting extends Key {
  versionId: string;
  /** When it was written, before its version. */
  at: string;
  /** Identifies the module of a module version, together with its version. */
  moduleId?: string;
  version?: string;
}

/**
 * Adds a version to those that get the commit. Requests the commit again if it was archived meanwhile: what archives it
 * changes the record first and then reads the rows. 1 write, 1 read. @returns the record after the write
 */
export const waitForArchive = async (
  archive: CommitArchive,
  { versionId, ...of }: Pick<Waiting, 'versionId' | 'moduleId' | 'version'>,
): Promise<CommitArchive> => {
  const { id } = archive;
  await put({ ...keys.waitingForArchive(id, versionId), versionId, at: now(), ...of });
  const current = (await getArchive(id)) ?? archive;
  const isArchived = current.status === 'archiving' || current.status === 'archived';
  return (isArchived ? await reset(current) : undefined) ?? current;
};

/** Rows of a commit's record. */
export const rowsOf = (id: string): Promise<Waiting[]> =>
  queryAll<Waiting>({ pk: keys.commitArchive(id).pk, prefix: 'CV#' });

export const isConfiguration = ({ versionId }: Waiting): boolean => versionId.startsWith('cv-');

/** The sweep repeats the work until {@link settleWaiting} has finished. */
export const markUnsettled = async (id: string): Promise<void> => {
  await updateExisting(keys.commitArchive(id), { set: dueIn(id, 60), remove: ['keepUntil'] });
};

/** When the next check whether the archive is needed is due, in intervals. */
export const nextCheck = (id: string, intervals = 1) => {
  const seconds = intervals * environment.commitArchiveSeconds;
  return { keepUntil: inSeconds(seconds), ...dueIn(id, seconds) };
};

/** The version with its commit's archive; undefined while the commit is being fetched. Can be repeated. */
export const settleVersion = async (
  archive: CommitArchive,
  versionId: string,
): Promise<ConfigurationVersion | undefined> => {
  if (archive.status !== 'stored' && archive.status !== 'errored') return undefined;
  const at = now();
  const stored = archive.status === 'stored';
  const key = keys.configurationVersion(versionId);
  const settled = await update<ConfigurationVersion>(key, {
    set: {
      status: stored ? 'uploaded' : 'errored',
      size: archive.size,
      archive: archive.archive,
      errorMessage: archive.failure,
      [`statusTimestamps.${stored ? 'uploaded-at' : 'errored-at'}`]: at,
      'statusTimestamps.finished-at': at,
    },
    condition: 'status = :fetching',
    values: { ':fetching': 'fetching' },
  });
  return settled ?? (await get<ConfigurationVersion>(key));
};

/**
 * Settles every version that waits for the commit. Can be repeated; the sweep continues after an interruption. Rows of
 * configurations stay until the commit is archived.
 * @param settle returns false while the version does not exist: its row is written first, and stays until then
 */
export const settleWaiting = async (
  archive: CommitArchive,
  settle: (waiting: Waiting) => Promise<boolean>,
): Promise<void> => {
  const keepsRows = archive.status === 'stored';
  await inBatches(await rowsOf(archive.id), async (row) => {
    if ((await settle(row)) && !(keepsRows && isConfiguration(row))) await remove({ pk: row.pk, sk: row.sk });
  });
  await update(keys.commitArchive(archive.id), {
    ...(keepsRows ? { set: nextCheck(archive.id) } : { remove: dueAttributes }),
    condition: 'status = :settled',
    values: { ':settled': archive.status },
  });
};
