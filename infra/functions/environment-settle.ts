import type { Declaration } from '#infra/stack/declaration.ts';

export const EnvironmentSettle: Declaration = {
  entry: 'functions/environments/settle-handler.ts',
  description: 'Records the result of a build, an import or a dry run after its run has ended',
  timeoutSeconds: 60,
  environment: ['table', 'bucket', 'environmentLogs'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt'),
    may.readObjects('runs', 'states'),
    may.seeMissingObjects(),
    may.pushLogs(),
  ],
};
