import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const Confirmed: StateDeclaration = {
  entry: 'functions/lifecycle/states/confirmed.ts',
  description: 'State Confirmed: a saved plan waits for its turn',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
};
