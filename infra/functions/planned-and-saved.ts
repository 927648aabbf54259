import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const PlannedAndSaved: StateDeclaration = {
  entry: 'functions/lifecycle/states/planned-and-saved.ts',
  description: 'State PlannedAndSaved: keeps a plan for a person',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table'],
  rights: (may) => [
    // A plan that is stale already is discarded, which the run's timeline says.
    may.table('GetItem', 'PutItem', 'UpdateItem'),
  ],
};
