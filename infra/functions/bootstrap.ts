import type { Declaration } from '../declaration.ts';

export const Bootstrap: Declaration = {
  entry: 'functions/organizations/bootstrap.ts',
  description: 'Creates the first organization and its owner; invoked by an operator',
  timeoutSeconds: 30,
  environment: ['table', 'publicUrl'],
  rights: (may) => [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'), may.tableKey()],
};
