import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Registry: HttpDeclaration = {
  entry: 'functions/public-api/registry.ts',
  description: 'The private registry: modules and providers, and how Terraform installs them',
  timeoutSeconds: 29,
  memoryMiB: 1024,
  environment: ['table', 'bucket', 'requestLimit'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.readObjects('uploads', 'registry'),
    may.writeObjects('uploads', 'registry'),
    may.storageKey('GenerateDataKey', 'Decrypt'),
    may.seeMissingObjects(),
  ],
  http: {
    routes: async () => (await import('#public-api/registry.ts')).routes,
    authorization: `${bearer}.`,
  },
};
