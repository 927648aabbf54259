import type { Declaration } from '#infra/stack/declaration.ts';

export const EnvironmentLogs: Declaration = {
  entry: 'functions/environments/logs/handler.ts',
  description: 'Sends logs of environments to those who follow them, as long as they do',
  // As long as a function may; then another one goes on.
  timeoutSeconds: 900,
  environment: ['table', 'bucket', 'socket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt'),
    may.readObjects('runs', 'states'),
    may.seeMissingObjects(),
  ],
};
