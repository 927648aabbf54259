import { bearer, type HttpDeclaration } from '../declaration.ts';

export const Api: HttpDeclaration = {
  entry: 'functions/public-api/api.ts',
  description: 'The public API (HCP Terraform API v2): workspaces and runs',
  // API Gateway gives up after 30 s; the function answers before.
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    // What runs were given is theirs alone to read.
    may.readObjects('configurations', 'policies', 'runs', 'states', 'uploads'),
    may.writeObjects('configurations', 'inputs', 'policies', 'uploads'),
    may.seeMissingObjects(),
    may.startExecutions(),
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('../../functions/public-api/core-routes.ts')).coreRoutes,
    subtrees: ['ANY /api/v2/{proxy+}', 'GET /.well-known/{proxy+}'],
    authorization: `${bearer}, and discovery is public by contract.`,
  },
};
