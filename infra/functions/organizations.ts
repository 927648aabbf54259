import { bearer, type HttpDeclaration } from '../declaration.ts';

export const Organizations: HttpDeclaration = {
  entry: 'functions/public-api/organizations.ts',
  description: 'The public API: organizations, projects',
  timeoutSeconds: 29,
  environment: ['table', 'requestLimit', 'organizationRules', 'runnerTerraform'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.tableKey(),
  ],
  http: {
    routes: async () => (await import('../../functions/public-api/organizations-routes.ts')).allOrganizationRoutes,
    authorization: `${bearer}.`,
  },
};
