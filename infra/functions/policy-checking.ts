import type { StateDeclaration } from '../declaration.ts';
import { judgingPolicies } from '../shared-rights.ts';

export const PolicyChecking: StateDeclaration = {
  entry: 'functions/lifecycle/policy-checking.ts',
  description: 'State PolicyChecking: checks policy sets with three levels',
  // OPA has 240 s and 1 GiB (functions/policies/engine/evaluate-run.ts).
  timeoutSeconds: 300,
  memoryMiB: 2048,
  state: 'works',
  environment: ['table', 'bucket', 'key'],
  rights: (may) => judgingPolicies(may),
};
