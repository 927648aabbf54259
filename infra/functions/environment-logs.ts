import type { Declaration } from '#infra/stack/declaration.ts';

export const EnvironmentLogs: Declaration = {
  entry: 'functions/environments/logs/handler.ts',
  description: 'Streams logs of environments to connected clients',
  // Sends new lines and ends; another invocation continues a long log.
  timeoutSeconds: 60,
  recursion: 'Each invocation sends forty seconds of a log and invokes the next one, until the log is sent.',
  environment: ['table', 'bucket', 'socket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt'),
    may.readObjects('runs', 'states'),
    may.seeMissingObjects(),
  ],
};
