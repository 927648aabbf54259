export { BulkActions } from '../views/workspaces/bulk.tsx';
export { NewWorkspace } from '../views/workspaces/new-workspace.tsx';
export { WorkspaceView } from '../views/workspaces/workspace.tsx';
