import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Organizations: HttpDeclaration = {
  entry: 'functions/public-api/organizations.ts',
  description: 'The public API: organizations, projects',
  timeoutSeconds: 29,
  environment: ['table', 'requestLimit', 'organizationRules', 'runnerTerraform', 'maxRunners'],
  rights: (may) => [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  http: {
    routes: async () => (await import('#public-api/organizations.ts')).routes,
    authorization: `${bearer}.`,
  },
};
