import type { Declaration } from '#infra/stack/declaration.ts';

export const Bootstrap: Declaration = {
  entry: 'functions/resources/organizations/bootstrap.ts',
  description: 'Creates the first organization and its owner; invoked by an operator',
  timeoutSeconds: 30,
  environment: ['table', 'publicUrl'],
  rights: (may) => [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem')],
};
