import { objectSize } from '#platform/store/bucket.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { create, get, put, queryAll, remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Archive, ConfigurationVersion } from '#resources/configurations/records.ts';
import type { VcsRepo } from '#resources/workspaces/records.ts';
import type { FollowedRepository } from './repositories.ts';

/**
 * Commits as configurations: each is fetched once, for any number of workspaces. The commit's record shows the
 * progress. Each waiting version has a row below, written before the version reads the record, so that the function
 * that settles the record finds all rows.
 */

export interface CommitArchive {
  id: string;
  tokenId: string;
  identifier: string;
  sha: string;
  /** Includes the files of its submodules. */
  submodules?: boolean;
  status: 'fetching' | 'stored' | 'errored';
  archive?: Archive;
  size?: number;
  failure?: string;
  /** Number of failed attempts. */
  attempts: number;
  leaseUntil?: string;
  since: string;
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
  const again = await update<CommitArchive>(key, {
    set: { status: 'fetching', attempts: 0, since: wanted.since, tokenId, identifier, ...dueIn(sha, 60) },
    remove: ['failure', 'leaseUntil'],
    condition: 'status <> :fetching',
    values: { ':fetching': 'fetching' },
  });
  return again ?? (await getArchive(id)) ?? wanted;
};

/**
 * Configurations may expire (infra/settings/settings.ts: configurationRetentionDays), but not earlier than this after they were
 * stored.
 */
const keptMs = 86_400_000;

/** Whether the commit could not be fetched, or has expired. 1 request to S3 for an old one. */
const isGone = async ({ status, archive, since }: CommitArchive): Promise<boolean> => {
  if (status === 'errored') return true;
  if (!archive || Date.now() - Date.parse(since) < keptMs) return false;
  return (await objectSize(archive.key)) === undefined;
};

/** A version of a configuration, policy set or module that waits for the commit. */
export interface Waiting extends Key {
  versionId: string;
  /** Identifies the module of a module version, together with its version. */
  moduleId?: string;
  version?: string;
}

export const waitForArchive = async (
  id: string,
  { versionId, ...of }: Pick<Waiting, 'versionId' | 'moduleId' | 'version'>,
): Promise<void> => {
  await put({ ...keys.waitingForArchive(id, versionId), versionId, ...of });
};

/** The sweep repeats the work until {@link settleWaiting} has finished. */
export const markUnsettled = async (id: string): Promise<void> => {
  await update(keys.commitArchive(id), { set: dueIn(id, 60), condition: 'attribute_exists(pk)' });
};

const atOnce = 25;

/** The version with its commit's archive; undefined while the commit is being fetched. Can be repeated. */
export const settleVersion = async (
  archive: CommitArchive,
  versionId: string,
): Promise<ConfigurationVersion | undefined> => {
  if (archive.status === 'fetching') return undefined;
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
 * Settles every version that waits for the commit. Can be repeated; the sweep continues after an interruption.
 * @param settle returns false while the version does not exist: its row is written first, and stays until then
 */
export const settleWaiting = async (
  archive: CommitArchive,
  settle: (waiting: Waiting) => Promise<boolean>,
): Promise<void> => {
  const { pk } = keys.commitArchive(archive.id);
  const rows = await queryAll<Waiting>({ pk, prefix: 'CV#' });
  for (let i = 0; i < rows.length; i += atOnce) {
    await Promise.all(
      rows.slice(i, i + atOnce).map(async (row) => {
        if (await settle(row)) await remove({ pk, sk: row.sk });
      }),
    );
  }
  await update(keys.commitArchive(archive.id), {
    remove: dueAttributes,
    condition: 'status <> :fetching',
    values: { ':fetching': 'fetching' },
  });
};
