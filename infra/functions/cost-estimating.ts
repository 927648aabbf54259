import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { passingConfirmation } from '#infra/stack/shared-rights.ts';

export const CostEstimating: StateDeclaration = {
  entry: 'functions/lifecycle/states/cost-estimating.ts',
  description: 'State CostEstimating: estimates the cost of the plan',
  timeoutSeconds: 60,
  state: 'works',
  environment: ['table', 'bucket', 'key'],
  rights: (may) => [
    passingConfirmation(may),
    may.key('Decrypt', 'GenerateDataKey'),
    // Its inputs and the estimate are stored with the run.
    may.readObjects('runs'),
    may.writeObjects('runs'),
    may.seeMissingObjects(),
    may.prices(),
  ],
};
