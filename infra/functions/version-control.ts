import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const VersionControl: HttpDeclaration = {
  entry: 'functions/public-api/version-control.ts',
  description: 'The public API: connections to version control, their repositories and branches',
  timeoutSeconds: 29,
  environment: ['table', 'key', 'outbound', 'requestLimit', 'versionControl', 'publicUrl', 'githubApp'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.handleVersionControlEvents(),
    ...may.githubApp('key', 'clientSecret'),
  ],
  http: {
    routes: async () => (await import('#public-api/version-control.ts')).routes,
    authorization: `${bearer}; a redirect from a forge carries a cookie and a state that this platform issued.`,
  },
};
