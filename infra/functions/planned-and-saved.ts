import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const PlannedAndSaved: StateDeclaration = {
  entry: 'functions/lifecycle/states/planned-and-saved.ts',
  description: 'State PlannedAndSaved: waits for the decision of a user about a saved plan',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table'],
  rights: (may) => [
    // A plan that is already stale is discarded; the run's timeline has the reason.
    may.table('GetItem', 'PutItem', 'UpdateItem'),
  ],
};
