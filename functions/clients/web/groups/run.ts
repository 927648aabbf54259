export { QueryView } from '../views/queries/query.tsx';
export { RunView } from '../views/runs/run.tsx';
export { CommitView } from '../views/version-control/commit.tsx';
