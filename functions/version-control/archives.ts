import type { Archive, ConfigurationVersion } from '../configurations/records.ts';
import { objectSize } from '../store/bucket.ts';
import { dueAttributes, dueIn } from '../store/due.ts';
import { type Key, keys } from '../store/keys.ts';
import { create, get, put, queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
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
  status: 'fetching' | 'stored' | 'errored';
  archive?: Archive;
  size?: number;
  failure?: string;
  /** Tries that came to nothing. */
  attempts: number;
  leaseUntil?: string;
  since: string;
}

const archiveId = (repository: string, sha: string): string => `${repository}#${sha}`;

export const getArchive = (id: string): Promise<CommitArchive | undefined> =>
  get<CommitArchive>(keys.commitArchive(id));

/** The commit's record; made, or begun anew after a failure, when it has to be fetched. */
export const requestArchive = async (
  { id: repository, tokenId, identifier }: Pick<FollowedRepository, 'id' | 'tokenId' | 'identifier'>,
  sha: string,
): Promise<CommitArchive> => {
  const id = archiveId(repository, sha);
  const key = keys.commitArchive(id);
  const wanted: CommitArchive = { id, tokenId, identifier, sha, status: 'fetching', attempts: 0, since: now() };
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

export const waitForArchive = async (id: string, versionId: string): Promise<void> => {
  await put({ ...keys.waitingForArchive(id, versionId), versionId });
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

/** Tells every version that waits for the commit. May be repeated, and cut off: the sweep goes on. */
export const settleWaiting = async (
  archive: CommitArchive,
  tell: (version: ConfigurationVersion) => Promise<void>,
): Promise<void> => {
  const { pk } = keys.commitArchive(archive.id);
  const rows = await queryAll<Key & { versionId: string }>({ pk, prefix: 'CV#' });
  for (let i = 0; i < rows.length; i += atOnce) {
    await Promise.all(
      rows.slice(i, i + atOnce).map(async ({ sk, versionId }) => {
        const version = await settleVersion(archive, versionId);
        // A row is written before its version: one without it yet stays.
        if (!version) return;
        await tell(version);
        await remove({ pk, sk });
      }),
    );
  }
  await update(keys.commitArchive(archive.id), {
    remove: dueAttributes,
    condition: 'status <> :fetching',
    values: { ':fetching': 'fetching' },
  });
};
