import { putObject } from '#platform/store/bucket.ts';
import { type Key, keys, objects } from '#platform/store/keys.ts';
import { query, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { jsonKey } from './json.ts';
import { getStateVersion, getStateVersions, jsonUploadName } from './records.ts';
import type { StateVersion } from './state-version.ts';

/** Lists a workspace's state versions, and deletes or restores the content of old ones. */

/** Entry of a state version in its workspace's list. */
export interface Pointer extends Key {
  stateVersionId: string;
}

/** A filtered list searches at most this many versions. */
const lookBack = 2000;
const pieces = 100;

export const versionsOf = (pointers: Pointer[]): Promise<StateVersion[]> =>
  getStateVersions(pointers.map(({ stateVersionId }) => stateVersionId));

const newest = (workspaceId: string, limit: number, before = 'SV#~'): Promise<Pointer[]> =>
  query<Pointer>({ pk: keys.workspace(workspaceId).pk, from: 'SV#', to: before, reverse: true, limit });

interface Paging {
  /** Starts at 1. */
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
  // Does not count a run's snapshots, which are deleted later.
  return { items: await versionsOf(pointers.slice(from)), total: Math.max(total, pointers.length) };
};

/** Versions with the status; searches until the page is full and one more is found. */
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

/** A successor has a higher serial, except after a forced write; discarded versions can lie between the two. */
const lookAhead = 10;

/** Id of the version that became current after this one, searched among the next few. At most 11 reads. */
export const nextStateVersion = async ({ id, workspaceId, serial }: StateVersion): Promise<string | undefined> => {
  const { pk, sk } = keys.workspaceStateVersion(workspaceId, serial, '');
  const pointers = await query<Pointer>({ pk, from: sk, to: 'SV#~', limit: lookAhead });
  const after = await versionsOf(pointers.filter(({ stateVersionId }) => stateVersionId !== id));
  return after.find(({ previousId, status }) => previousId === id && status !== 'pending' && status !== 'discarded')
    ?.id;
};

/** Undefined when the version's status does not allow the change. */
const change = (version: StateVersion, from: StateVersion['status'], to: StateVersion['status']) =>
  update<StateVersion>(keys.stateVersion(version.id), {
    set: { status: to, ...(to === 'finalized' ? {} : { deletedAt: now() }) },
    remove: to === 'finalized' ? ['deletedAt'] : [],
    condition: '#status = :from',
    values: { ':from': from },
  });

/** Soft-deleted content cannot be read until it is restored. */
export const softDeleteState = (version: StateVersion): Promise<StateVersion | undefined> =>
  change(version, 'finalized', 'backing_data_soft_deleted');

export const restoreState = (version: StateVersion): Promise<StateVersion | undefined> =>
  change(version, 'backing_data_soft_deleted', 'finalized');

/** Empties the objects; the bucket expires their previous versions. Can be repeated. */
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
  await updateExisting(keys.stateVersion(id), { remove: ['summary'] });
  return purged ?? version;
};

/** Seconds for which a pending upload blocks unlocking the workspace. */
const awaitUploadSeconds = 60;

export const isAwaited = ({ status, createdAt }: StateVersion): boolean =>
  status === 'pending' && Date.now() - Date.parse(createdAt) < awaitUploadSeconds * 1000;

/** The version with the highest serial. */
export const latestStateVersion = async (workspaceId: string): Promise<StateVersion | undefined> => {
  const [last] = await newest(workspaceId, 1);
  return last && getStateVersion(last.stateVersionId);
};
