import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';
import { rightsToBeginRuns } from '#infra/stack/shared-rights.ts';

export const Modules: HttpDeclaration = {
  entry: 'functions/public-api/modules.ts',
  description: 'The public API: no-code modules, and the workspaces made from them',
  timeoutSeconds: 29,
  memoryMiB: 1024,
  environment: ['table', 'bucket', 'key', 'machine', 'outbound', 'publicUrl', 'requestLimit'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // The first run of a new workspace; upgrades wait for a confirmation.
    ...rightsToBeginRuns(may),
    may.answerExecutions(),
    // A module's inputs become the workspace's configuration; the first reader processes a new module version.
    may.readObjects('registry'),
    may.writeObjects('registry'),
  ],
  http: {
    routes: async () => (await import('#public-api/modules.ts')).routes,
    authorization: `${bearer}.`,
  },
};
