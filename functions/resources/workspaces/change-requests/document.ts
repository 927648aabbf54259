import { one } from '#api/answer.ts';
import type { ChangeRequest } from './records.ts';

/** HCP API: change requests. */
export const changeRequestDocument = (request: ChangeRequest) => ({
  id: request.id,
  type: 'workspace-change-requests',
  attributes: {
    subject: request.subject,
    message: request.message,
    'archived-at': request.archivedAt ?? null,
    'archived-by': request.archivedBy ?? null,
    'created-at': request.createdAt,
    'updated-at': request.archivedAt ?? request.createdAt,
  },
  relationships: {
    workspace: one('workspaces', request.workspaceId),
    'created-by': one('users', request.createdBy),
    'archived-by-user': one('users', request.archivedBy),
  },
  links: { self: `/api/v2/change-requests/${request.id}` },
});
