export { QueryView } from '../views/queries/query.tsx';
export { RunView } from '../views/runs/run.tsx';
export { StateView } from '../views/states/state-version.tsx';
export { CommitView } from '../views/version-control/commit.tsx';
