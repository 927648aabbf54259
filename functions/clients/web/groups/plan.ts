export { DiffList } from '../parts/diff.tsx';
export { PlanChanges } from '../views/runs/plan-changes.tsx';
export { PlanComparison } from '../views/runs/plan-comparison.tsx';
export { PlanGraph } from '../views/runs/plan-graph.tsx';
export { StateView } from '../views/states/state-version.tsx';
