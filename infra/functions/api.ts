import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Api: HttpDeclaration = {
  entry: 'functions/public-api/api.ts',
  description: 'The public API (HCP Terraform API v2): discovery, reading workspaces, change requests, provider sets',
  // API Gateway gives up after 30 s; the function times out first.
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'requestLimit', 'ipRanges'],
  rights: (may) => [
    // Deletes provider sets.
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // Lists workspaces by latest change.
    may.index('changed'),
    // A workspace's readme comes from its configuration, its outputs from its state.
    may.readObjects('configurations', 'states'),
    may.writeObjects('configurations'),
    may.storageKey('GenerateDataKey', 'Decrypt'),
    may.seeMissingObjects(),
  ],
  http: {
    routes: async () => (await import('#public-api/api.ts')).routes,
    subtrees: ['ANY /api/v2/{proxy+}', 'GET /.well-known/{proxy+}'],
    authorization: `${bearer}, and discovery is public by contract.`,
  },
};
