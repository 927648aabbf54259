import { putObject } from '#platform/store/bucket.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { query, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { jsonKey } from './json.ts';
import { getStateVersion, getStateVersions, jsonUploadName } from './records.ts';
import type { StateVersion } from './state-version.ts';

/** A workspace's state versions as a list, and what becomes of the content of those that are not needed any more. */

/** A state version in its workspace's list. */
export interface Pointer extends Key {
  stateVersionId: string;
}

/** A list with a filter looks no further back than this many versions. */
const lookBack = 2000;
const pieces = 100;

export const versionsOf = (pointers: Pointer[]): Promise<StateVersion[]> =>
  getStateVersions(pointers.map(({ stateVersionId }) => stateVersionId));

const newest = (workspaceId: string, limit: number, before = 'SV#~'): Promise<Pointer[]> =>
  query<Pointer>({ pk: keys.workspace(workspaceId).pk, from: 'SV#', to: before, reverse: true, limit });

interface Paging {
  /** From 1. */
  page: number;
  size: number;
}

/** Highest serial first. Reads the page's versions, and pointers up to it. */
export const listStateVersions = async (
  { id, stateVersionCount: total = 0 }: Pick<Workspace, 'id' | 'stateVersionCount'>,
  { page, size }: Paging,
): Promise<{ items: StateVersion[]; total: number }> => {
  const from = (page - 1) * size;
  if (from >= total) return { items: [], total };
  const pointers = await newest(id, from + size);
  // A run's snapshots are not counted: they do not stay.
  return { items: await versionsOf(pointers.slice(from)), total: Math.max(total, pointers.length) };
};

/** Those that have the status; looks on until the page is full and one more is known of. */
export const findStateVersions = async (
  workspaceId: string,
  status: string,
  { page, size }: Paging,
): Promise<{ items: StateVersion[]; total: number }> => {
  const matching: StateVersion[] = [];
  let before: string | undefined;
  for (let read = 0; matching.length <= page * size && read < lookBack; ) {
    const pointers = (await newest(workspaceId, pieces + 1, before)).filter(({ sk }) => sk !== before).slice(0, pieces);
    if (pointers.length === 0) break;
    matching.push(...(await versionsOf(pointers)).filter((version) => version.status === status));
    read += pointers.length;
    before = pointers.at(-1)?.sk;
  }
  return { items: matching.slice((page - 1) * size, page * size), total: matching.length };
};

/** What replaces a state has a higher serial, except by force; others between the two were not kept. */
const lookAhead = 10;

/** Id of the version that became current after it; looked for among the next few. At most 11 reads. */
export const nextStateVersion = async ({ id, workspaceId, serial }: StateVersion): Promise<string | undefined> => {
  const { pk, sk } = keys.workspaceStateVersion(workspaceId, serial, '');
  const pointers = await query<Pointer>({ pk, from: sk, to: 'SV#~', limit: lookAhead });
  const after = await versionsOf(pointers.filter(({ stateVersionId }) => stateVersionId !== id));
  return after.find(({ previousId, status }) => previousId === id && status !== 'pending' && status !== 'discarded')
    ?.id;
};

/** Undefined when it is not in a status from which that can be done. */
const change = (version: StateVersion, from: StateVersion['status'], to: StateVersion['status']) =>
  update<StateVersion>(keys.stateVersion(version.id), {
    set: { status: to, ...(to === 'finalized' ? {} : { deletedAt: now() }) },
    remove: to === 'finalized' ? ['deletedAt'] : [],
    condition: '#status = :from',
    values: { ':from': from },
  });

/** Its content cannot be read any more, until it is restored. */
export const softDeleteState = (version: StateVersion): Promise<StateVersion | undefined> =>
  change(version, 'finalized', 'backing_data_soft_deleted');

export const restoreState = (version: StateVersion): Promise<StateVersion | undefined> =>
  change(version, 'backing_data_soft_deleted', 'finalized');

/** Empties the objects; the bucket lets go of what they held as of any old version of an object. May be repeated. */
export const purgeState = async (version: StateVersion): Promise<StateVersion | undefined> => {
  const purged = await change(version, 'backing_data_soft_deleted', 'backing_data_permanently_deleted');
  const again = version.status === 'backing_data_permanently_deleted';
  if (!purged && !again) return undefined;
  const { workspaceId, id, sha256, outputsSha256, uploadKey } = version;
  const objectKeys = [
    objects.state(workspaceId, id, sha256),
    jsonKey(version),
    objects.outputs(workspaceId, id, outputsSha256),
    objects.upload(jsonUploadName(id)),
    ...(uploadKey ? [uploadKey] : []),
  ];
  for (const key of objectKeys) await putObject(key, '');
  await update(keys.stateVersion(id), { remove: ['summary'], condition: 'attribute_exists(pk)' });
  return purged ?? version;
};

/** How long an upload is waited for before the workspace may be unlocked without it. */
const awaitUploadSeconds = 60;

export const isAwaited = ({ status, createdAt }: StateVersion): boolean =>
  status === 'pending' && Date.now() - Date.parse(createdAt) < awaitUploadSeconds * 1000;

/** The version with the highest serial, if it was not settled yet. */
export const latestPending = async (workspaceId: string): Promise<StateVersion | undefined> => {
  const [last] = await newest(workspaceId, 1);
  const version = last && (await getStateVersion(last.stateVersionId));
  return version?.status === 'pending' ? version : undefined;
};
