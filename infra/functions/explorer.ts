import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

export const Explorer: HttpDeclaration = {
  entry: 'functions/public-api/explorer.ts',
  description: 'The public API: the explorer, its saved views, and bulk actions',
  timeoutSeconds: 29,
  // Reads all workspaces of an organization in parallel.
  memoryMiB: 1024,
  environment: ['table', 'bucket', 'requestLimit', 'tellPeople'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // State files, their plans, and the explorer's own files.
    may.readObjects('states', 'runs', 'uploads'),
    may.writeObjects('uploads'),
    may.storageKey('GenerateDataKey', 'Decrypt'),
    may.seeMissingObjects(),
    // Change requests notify teams.
    may.tellPeople(),
  ],
  http: {
    routes: async () => (await import('#public-api/explorer.ts')).routes,
    authorization: `${bearer}.`,
  },
};
