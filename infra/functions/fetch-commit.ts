import type { Declaration } from '#infra/stack/declaration.ts';

export const FetchCommit: Declaration = {
  entry: 'functions/lifecycle/creation/fetch-commit.ts',
  description: 'Fetches commits from version control for all followers of a repository, and archives unused ones',
  // Unpacking and packing use a whole processor.
  timeoutSeconds: 600,
  memoryMiB: 1769,
  environment: ['table', 'bucket', 'key', 'outbound', 'githubApp', 'statuses', 'compilePolicies'],
  rights: (may) => [
    // Records the results for policy sets and modules as events and as items of the commit.
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('Decrypt', 'GenerateDataKey'),
    // Commits become policy set versions and modules, too. Agents upload commits that only they can reach.
    may.readObjects('configurations', 'registry', 'uploads'),
    may.writeObjects('configurations', 'policies', 'registry', 'uploads'),
    may.seeMissingObjects(),
    may.deleteCommits(),
    may.postStatuses(),
    may.compilePolicies(),
    ...may.githubApp('key'),
  ],
};
