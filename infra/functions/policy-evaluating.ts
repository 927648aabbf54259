import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { judgingPolicies } from '#infra/stack/shared-rights.ts';

export const PolicyEvaluating: StateDeclaration = {
  entry: 'functions/lifecycle/states/policy-evaluating.ts',
  description: 'State PolicyEvaluating: OPA evaluates policy sets',
  // OPA has 240 s and 1 GiB (functions/resources/policies/engine/evaluate-run.ts).
  timeoutSeconds: 300,
  memoryMiB: 2048,
  state: 'works',
  environment: ['table', 'bucket', 'key'],
  rights: (may) => judgingPolicies(may),
};
