import type { StateDeclaration } from '#infra/stack/declaration.ts';
import { passingConfirmation } from '#infra/stack/shared-rights.ts';

export const CostEstimating: StateDeclaration = {
  entry: 'functions/lifecycle/states/cost-estimating.ts',
  description: 'State CostEstimating: what the plan costs',
  timeoutSeconds: 60,
  state: 'works',
  environment: ['table', 'bucket', 'key'],
  rights: (may) => [
    passingConfirmation(may),
    may.key('Decrypt', 'GenerateDataKey'),
    // What it read and what it found lies with the run.
    may.readObjects('runs'),
    may.writeObjects('runs'),
    may.seeMissingObjects(),
    may.prices(),
  ],
};
