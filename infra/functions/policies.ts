import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Policies: HttpDeclaration = {
  entry: 'functions/public-api/policies.ts',
  description: 'The public API: policies and policy sets',
  timeoutSeconds: 29,
  environment: [
    'table',
    'bucket',
    'key',
    'outbound',
    'publicUrl',
    'requestLimit',
    'organizationRules',
    'versionControl',
    'commits',
    'compilePolicies',
    'githubApp',
  ],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('policies', 'uploads'),
    may.writeObjects('policies', 'uploads'),
    may.seeMissingObjects(),
    may.handleVersionControlEvents(),
    may.fetchCommits(),
    may.compilePolicies(),
    ...may.githubApp('key'),
  ],
  http: {
    routes: async () => (await import('#public-api/policies.ts')).routes,
    authorization: `${bearer}.`,
  },
};
