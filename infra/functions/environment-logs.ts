import type { Declaration } from '#infra/stack/declaration.ts';

export const EnvironmentLogs: Declaration = {
  entry: 'functions/environments/logs/handler.ts',
  description: 'Streams logs of environments to connected clients',
  // The maximum; then another invocation continues.
  timeoutSeconds: 900,
  environment: ['table', 'bucket', 'socket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt'),
    may.readObjects('runs', 'states'),
    may.seeMissingObjects(),
  ],
};
