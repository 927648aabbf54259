export { RunView } from '../views/runs/run.tsx';
export { StateView } from '../views/states/state-version.tsx';
