import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const CostEstimating: StateDeclaration = {
  entry: 'functions/lifecycle/states/cost-estimating.ts',
  description: 'State CostEstimating: what the plan costs',
  timeoutSeconds: 60,
  state: 'works',
  environment: ['table', 'bucket', 'key'],
  rights: (may) => [
    may.table('GetItem', 'UpdateItem'),
    may.key('Decrypt', 'GenerateDataKey'),
    // What it read and what it found lies with the run.
    may.readObjects('runs'),
    may.writeObjects('runs'),
    may.seeMissingObjects(),
    may.prices(),
  ],
};
