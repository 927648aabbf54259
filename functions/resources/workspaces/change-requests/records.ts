import { derivedId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { batchGet, create, get, put, queryAll, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Workspace } from '../records.ts';

/** Requests from users to a workspace's team to change it (HCP API: change requests). */
export interface ChangeRequest {
  id: string;
  organization: string;
  workspaceId: string;
  subject: string;
  /** Markdown. */
  message: string | null;
  createdAt: string;
  createdBy: string;
  archivedAt?: string;
  archivedBy?: string;
}

const prefix = 'CHANGEREQUEST#';

export const getChangeRequest = (id: string): Promise<ChangeRequest | undefined> =>
  get<ChangeRequest>(keys.changeRequest(id));

/** Newest first. */
export const listChangeRequests = async (workspaceId: string): Promise<ChangeRequest[]> => {
  const entries = await queryAll<Key & { id: string }>({ pk: keys.workspace(workspaceId).pk, prefix, reverse: true });
  return batchGet<ChangeRequest & Key>(entries.map(({ id }) => keys.changeRequest(id)));
};

/** Counts a workspace's open requests on its item, so that workspaces without any need no query. */
const countOpen = (workspaceId: string, difference: 1 | -1) =>
  updateRecord(keys.workspace(workspaceId), {
    add: { changeRequests: difference },
  });

/** @param action id of the bulk action, which creates one request per workspace. 3 writes. */
export const createChangeRequest = async (
  { id: workspaceId, organization }: Workspace,
  action: string,
  values: Pick<ChangeRequest, 'subject' | 'message' | 'createdBy'>,
): Promise<ChangeRequest> => {
  const id = derivedId('wscr', `${action} ${workspaceId}`);
  const request: ChangeRequest = { ...values, id, organization, workspaceId, createdAt: now() };
  if (await create({ ...keys.changeRequest(id), ...request })) await countOpen(workspaceId, 1);
  await put({ ...keys.changeRequestOf(workspaceId, request.createdAt, id), id });
  return request;
};

/** Undefined when it is already archived. */
export const archiveChangeRequest = async (
  { id, workspaceId }: ChangeRequest,
  archivedBy: string,
): Promise<ChangeRequest | undefined> => {
  const archived = await updateExisting<ChangeRequest>(keys.changeRequest(id), {
    set: { archivedAt: now(), archivedBy },
    condition: 'attribute_not_exists(archivedAt)',
  });
  if (archived) await countOpen(workspaceId, -1);
  return archived;
};
