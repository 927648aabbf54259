import { bearer, type HttpDeclaration } from '../declaration.ts';
import { rightsToBeginRuns } from '../shared-rights.ts';

export const Modules: HttpDeclaration = {
  entry: 'functions/public-api/modules.ts',
  description: 'The public API: tests of modules, workspaces made from modules, queries',
  timeoutSeconds: 29,
  memoryMiB: 1024,
  environment: ['table', 'bucket', 'key', 'machine', 'publicUrl', 'requestLimit'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    // A test run, a query and the first run of a workspace are runs.
    ...rightsToBeginRuns(may),
    // Configurations of tests are uploaded to addresses that this function signs; what queries generated is read from the runs.
    may.writeObjects('uploads'),
    may.readObjects('runs'),
    // What a module declares becomes a workspace's configuration; whoever looks first takes a new version in.
    may.readObjects('registry'),
    may.writeObjects('registry'),
    may.answerExecutions(),
  ],
  http: {
    routes: async () => (await import('../../functions/public-api/modules-routes.ts')).modulesRoutes,
    authorization: `${bearer}.`,
  },
};
