import { one } from '#api/answer.ts';
import { itemId, type Recoverable } from './records.ts';

/** HCP API: recoverable items. */
export const recoverableDocument = (workspace: Recoverable) => ({
  id: itemId(workspace),
  type: 'recoverable-items',
  attributes: {
    'recoverable-name': workspace.name,
    'deleted-at': workspace.deletedAt,
    'expires-at': workspace.recoverableUntil,
    'unmanaged-resources': workspace.state?.resources ?? 0,
    'permanently-deleted-at': null,
  },
  relationships: {
    recoverable: one('workspaces', workspace.id),
    project: one('projects', workspace.projectId),
    'deleted-by': one('users', workspace.deletedBy),
  },
});
