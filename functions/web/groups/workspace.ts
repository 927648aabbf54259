export { WorkspaceView } from '../views/workspaces/workspace.tsx';
