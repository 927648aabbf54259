import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Workspaces: HttpDeclaration = {
  entry: 'functions/public-api/workspaces.ts',
  description: 'The public API: creates, changes, deletes and recovers workspaces',
  timeoutSeconds: 29,
  environment: ['table', 'key', 'outbound', 'publicUrl', 'requestLimit', 'versionControl', 'githubApp'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.handleVersionControlEvents(),
    ...may.githubApp('key'),
  ],
  http: {
    routes: async () => (await import('#public-api/workspaces.ts')).routes,
    authorization: `${bearer}.`,
  },
};
