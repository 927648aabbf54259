import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';
import { rightsToBeginRuns } from '#infra/stack/shared-rights.ts';

export const Runs: HttpDeclaration = {
  entry: 'functions/public-api/runs.ts',
  description: 'The public API: configuration versions and runs',
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit', 'commits'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // No right to read the inputs of runs: only runners read them.
    ...rightsToBeginRuns(may),
    // Signs upload URLs.
    may.writeObjects('uploads'),
    // Fetches a commit again if its first fetch failed, or its files were archived or have expired.
    may.fetchCommits(),
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('#public-api/runs.ts')).routes,
    // An API has at most 300 routes (HTTP APIs: quotas): one key replaces six.
    subtrees: ['ANY /api/v2/runs/{proxy+}'],
    authorization: `${bearer}.`,
  },
};
