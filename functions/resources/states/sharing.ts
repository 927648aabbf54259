import { inBatches } from '#platform/store/batches.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { get, put, queryAll, remove } from '#platform/store/table.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';

/** Workspaces whose runs may read another workspace's state (HCP API: remote state consumers). */

interface Pointer extends Key {
  workspaceId: string;
}

/** Ids of the named consumers, in order. */
export const listConsumers = async (workspaceId: string): Promise<string[]> => {
  const { pk } = keys.workspace(workspaceId);
  return (await queryAll<Pointer>({ pk, prefix: 'CONSUMER#' })).map((pointer) => pointer.workspaceId);
};

/** 1 write per id; can be repeated. */
export const addConsumers = (workspaceId: string, ids: string[]): Promise<void> =>
  inBatches(ids, (id) => put({ ...keys.consumer(workspaceId, id), workspaceId: id }));

export const removeConsumers = (workspaceId: string, ids: string[]): Promise<void> =>
  inBatches(ids, (id) => remove(keys.consumer(workspaceId, id)));

/** Whether runs of `reader` may read the workspace's state. At most 2 reads. */
export const sharesState = async (
  workspace: Pick<Workspace, 'id' | 'organization' | 'projectId' | 'globalRemoteState' | 'projectRemoteState'>,
  reader: Pick<Run, 'organization' | 'workspaceId'>,
): Promise<boolean> => {
  if (workspace.organization !== reader.organization) return false;
  if (workspace.id === reader.workspaceId || workspace.globalRemoteState) return true;
  if (await get(keys.consumer(workspace.id, reader.workspaceId))) return true;
  if (!workspace.projectRemoteState) return false;
  return (await getWorkspace(reader.workspaceId))?.projectId === workspace.projectId;
};
