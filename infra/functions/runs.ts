import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';
import { rightsToBeginRuns } from '#infra/stack/shared-rights.ts';

export const Runs: HttpDeclaration = {
  entry: 'functions/public-api/runs.ts',
  description: 'The public API: configuration versions and runs',
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit', 'commits'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // What runs were given is theirs alone to read.
    ...rightsToBeginRuns(may),
    // Uploads go to addresses that this function signs.
    may.writeObjects('uploads'),
    // A commit that could not be fetched, or has expired, is fetched again for a run of it.
    may.fetchCommits(),
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('#public-api/runs-routes.ts')).allRunRoutes,
    // An API has 300 routes at most (HTTP APIs: quotas): one key in place of six.
    subtrees: ['ANY /api/v2/runs/{proxy+}'],
    authorization: `${bearer}.`,
  },
};
