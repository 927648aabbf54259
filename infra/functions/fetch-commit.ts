import type { Declaration } from '#infra/stack/declaration.ts';

export const FetchCommit: Declaration = {
  entry: 'functions/lifecycle/creation/fetch-commit.ts',
  description: 'Fetches commits from version control, once for all who follow them',
  // Unpacking and packing take a whole processor.
  timeoutSeconds: 600,
  memoryMiB: 1769,
  environment: ['table', 'bucket', 'key', 'outbound', 'githubApp', 'statuses'],
  rights: (may) => [
    // What became of policies and modules is told: an event, and a row below the commit.
    may.table('GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt', 'GenerateDataKey'),
    // Commits are policies and modules, too. Agents upload what only they can fetch.
    may.readObjects('configurations', 'registry', 'uploads'),
    may.writeObjects('configurations', 'policies', 'registry', 'uploads'),
    may.seeMissingObjects(),
    may.postStatuses(),
    ...may.githubApp('key'),
  ],
};
