import type { Archive, ConfigurationVersion } from '../configurations/records.ts';
import { objectSize } from '../store/bucket.ts';
import { dueAttributes, dueIn } from '../store/due.ts';
import { type Key, keys } from '../store/keys.ts';
import { create, get, put, queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { VcsRepo } from '../workspaces/records.ts';
import type { FollowedRepository } from './repositories.ts';

/**
 * Commits as configurations: each is fetched once, for however many workspaces. The record says how that goes; versions
 * that wait for it have a row below it, written before they look at it, so that whoever settles it finds them.
 */

export interface CommitArchive {
  id: string;
  tokenId: string;
  identifier: string;
  sha: string;
  /** With the files of its submodules. */
  submodules?: boolean;
  status: 'fetching' | 'stored' | 'errored';
  archive?: Archive;
  size?: number;
  failure?: string;
  /** Tries that came to nothing. */
  attempts: number;
  leaseUntil?: string;
  since: string;
}

const archiveId = (repository: string, sha: string, submodules: boolean): string =>
  `${repository}#${sha}${submodules ? '#submodules' : ''}`;

/** Of one commit, with submodules or without them. */
export type CommitArchives = readonly CommitArchive[];

/** What the follower takes of the commit. */
export const archiveFor = (archives: CommitArchives, vcsRepo: VcsRepo | null | undefined): CommitArchive => {
  const wanted = vcsRepo?.ingressSubmodules ?? false;
  const archive = archives.find(({ submodules = false }) => submodules === wanted);
  if (!archive) throw new Error('the archive of the commit was not asked for');
  return archive;
};

export const getArchive = (id: string): Promise<CommitArchive | undefined> =>
  get<CommitArchive>(keys.commitArchive(id));

/** The commit's record; made, or begun anew after a failure, when it has to be fetched. */
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

/** Configurations may expire (infra/settings.ts: configurationRetentionDays), this long after they were stored at the earliest. */
const keptMs = 86_400_000;

/** Whether there is nothing to plan: it could not be fetched, or has expired. 1 request to S3 for an old one. */
const isGone = async ({ status, archive, since }: CommitArchive): Promise<boolean> => {
  if (status === 'errored') return true;
  if (!archive || Date.now() - Date.parse(since) < keptMs) return false;
  return (await objectSize(archive.key)) === undefined;
};

/** A version that waits for the commit: of a workspace's configuration, a policy set, or a module. */
export interface Waiting extends Key {
  versionId: string;
  /** Of a module's version, which is found by these. */
  moduleId?: string;
  version?: string;
}

export const waitForArchive = async (
  id: string,
  { versionId, ...of }: Pick<Waiting, 'versionId' | 'moduleId' | 'version'>,
): Promise<void> => {
  await put({ ...keys.waitingForArchive(id, versionId), versionId, ...of });
};

/** Until {@link settleWaiting} is through, the sweep has it done. */
export const markUnsettled = async (id: string): Promise<void> => {
  await update(keys.commitArchive(id), { set: dueIn(id, 60), condition: 'attribute_exists(pk)' });
};

const atOnce = 25;

/** The version as its commit's archive says; undefined while that is not settled. May be repeated. */
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
 * Settles every version that waits for the commit. May be repeated, and cut off: the sweep goes on.
 * @param settle false while the version is not there: a row is written before it, and stays until then
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
