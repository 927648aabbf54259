import type { StateDeclaration } from '#infra/stack/declaration.ts';

export const RunTask: StateDeclaration = {
  entry: 'functions/lifecycle/states/run-task.ts',
  description: 'State RunTask: calls a run task and waits for its result',
  // Retries the call for about a minute and a half.
  timeoutSeconds: 150,
  state: 'waits',
  environment: ['table', 'key', 'outbound', 'publicUrl'],
  rights: (may) => [may.table('GetItem', 'UpdateItem'), may.key('Decrypt')],
};
