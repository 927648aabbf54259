import type { Declaration } from '#infra/stack/declaration.ts';

export const DataRetention: Declaration = {
  entry: 'functions/removal/retention/handler.ts',
  description:
    'Deletes states, configurations and run data that data retention policies let go of, and workspaces for good',
  // Fifty of each kind at most, one after the other.
  timeoutSeconds: 300,
  environment: ['table', 'bucket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // Deleted objects are emptied; nothing in them is read.
    may.storageKey('GenerateDataKey', 'Decrypt'),
    may.writeObjects('configurations', 'runs', 'states', 'uploads'),
    may.readObjects('runs'),
    may.seeMissingObjects(),
  ],
};
