import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';
import { rightsToBeginRuns } from '#infra/stack/shared-rights.ts';

export const TestRuns: HttpDeclaration = {
  entry: 'functions/public-api/test-runs.ts',
  description: 'The public API: tests of modules, queries',
  timeoutSeconds: 29,
  memoryMiB: 1024,
  environment: ['table', 'bucket', 'key', 'machine', 'publicUrl', 'requestLimit', 'commits'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // A test run and a query are runs.
    ...rightsToBeginRuns(may),
    // Signs upload URLs for configurations of tests, and reads the files that queries generate from their runs.
    may.writeObjects('uploads'),
    may.readObjects('runs'),
    // Fetches an archived commit again.
    may.fetchCommits(),
    // Test runs and queries can be canceled.
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('#public-api/test-runs.ts')).routes,
    authorization: `${bearer}.`,
  },
};
