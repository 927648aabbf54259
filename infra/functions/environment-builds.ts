import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

/** This function's routes of the environments' API (infra/stack/environment-api.ts). */
export const environmentBuildRoutes = [
  'ANY /api/v2/users/{user}/workspaces',
  'ANY /api/v2/organizations/{organization}/members/{user}/workspaces',
  'POST /api/v2/workspaces/{workspace}/builds',
  'ANY /api/v2/workspacebuilds/{build}/cancel',
  'ANY /api/v2/workspacebuilds/{build}/state',
];

/**
 * Separate from Environments, which only reads, so that no reading request can start runs or touch states
 * (decisions/0084).
 */
export const EnvironmentBuilds: HttpDeclaration = {
  entry: 'functions/environments/builds/handler.ts',
  description: "Builds of environments (Coder's API): start, cancel, states",
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit', 'environments'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('policies', 'runs', 'states', 'uploads'),
    may.writeObjects('inputs', 'policies', 'states'),
    may.seeMissingObjects(),
    may.startExecutions(),
    may.answerExecutions(),
  ],
  // The web page maps its paths itself (functions/clients/web/environments-client.ts): an API has no route keys to
  // spare.
  http: { subtrees: ['ANY /environments/builds/api/v2/{proxy+}'], authorization: bearer },
};
