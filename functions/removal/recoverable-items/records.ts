import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, get, queryAll } from '#platform/store/table.ts';
import type { EndedWorkspace } from '#removal/workspaces.ts';

/**
 * Deleted workspaces that can be recovered (HCP API: recoverable items). The workspace's own item is authoritative;
 * an entry in the organization's partition lists it. An item has its workspace's id with another prefix.
 */
export type Recoverable = EndedWorkspace & { recoverableUntil: string };

export const itemId = ({ id }: Pick<EndedWorkspace, 'id'>): string => id.replace(/^ws-/, 'ri-');

const isRecoverable = (workspace: EndedWorkspace | undefined): workspace is Recoverable =>
  workspace?.deletedAt !== undefined &&
  !workspace.isEnding &&
  workspace.recoverableUntil !== undefined &&
  Date.parse(workspace.recoverableUntil) > Date.now();

/** 1 read. */
export const getRecoverable = async (id: string): Promise<Recoverable | undefined> => {
  if (!id.startsWith('ri-')) return undefined;
  const workspace = await get<EndedWorkspace>(keys.workspace(id.replace(/^ri-/, 'ws-')));
  return isRecoverable(workspace) ? workspace : undefined;
};

/** Unordered. 1 query, and 1 read per 100. */
export const listRecoverable = async (organization: string): Promise<Recoverable[]> => {
  const { pk } = keys.organization(organization);
  const entries = await queryAll<{ workspaceId: string }>({ pk, prefix: 'DELETED#' });
  const workspaces: EndedWorkspace[] = await batchGet<EndedWorkspace & Key>(
    entries.map(({ workspaceId }) => keys.workspace(workspaceId)),
  );
  return workspaces.filter(isRecoverable).filter((workspace) => workspace.organization === organization);
};
