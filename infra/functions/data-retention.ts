import type { Declaration } from '#infra/stack/declaration.ts';

export const DataRetention: Declaration = {
  entry: 'functions/removal/retention/handler.ts',
  description:
    'Deletes expired states, configurations and run data (data retention policies), and purges deleted workspaces',
  // At most fifty of each kind, one after the other.
  timeoutSeconds: 300,
  environment: ['table', 'bucket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // Purged objects are overwritten with empty ones; their content is not read.
    may.storageKey('GenerateDataKey', 'Decrypt'),
    may.writeObjects('configurations', 'runs', 'states', 'uploads'),
    may.readObjects('runs'),
    may.seeMissingObjects(),
  ],
};
