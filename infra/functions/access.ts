import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Access: HttpDeclaration = {
  entry: 'functions/public-api/access.ts',
  description: 'The public API: accounts, tokens, teams, agent pools, the audit trail',
  timeoutSeconds: 29,
  environment: ['table', 'requestLimit', 'organizationRules'],
  rights: (may) => [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  http: {
    routes: async () => (await import('#public-api/access.ts')).routes,
    // An API has at most 300 routes (HTTP APIs: quotas): one key replaces four.
    subtrees: ['ANY /api/v2/teams/{proxy+}'],
    authorization: `${bearer}.`,
  },
};
