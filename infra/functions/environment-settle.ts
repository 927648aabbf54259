import type { Declaration } from '#infra/stack/declaration.ts';

export const EnvironmentSettle: Declaration = {
  entry: 'functions/environments/settle-handler.ts',
  description: 'Records what became of a build, an import or a dry run whose run has ended',
  timeoutSeconds: 60,
  environment: ['table', 'bucket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt'),
    may.readObjects('runs', 'states'),
    may.seeMissingObjects(),
  ],
};
