import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const Pending: StateDeclaration = {
  entry: 'functions/lifecycle/states/pending.ts',
  description: 'State Pending: waits in the queue',
  timeoutSeconds: 30,
  state: 'waits',
  environment: ['table', 'notify'],
  rights: (may) => [may.table('GetItem', 'Query', 'UpdateItem', 'DeleteItem'), may.notify()],
};
