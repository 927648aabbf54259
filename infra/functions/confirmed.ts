import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const Confirmed: StateDeclaration = {
  entry: 'functions/lifecycle/states/confirmed.ts',
  description: 'State Confirmed: a confirmed saved plan waits in the queue',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
};
