import { bearer, type HttpDeclaration } from '#infra/stack/declaration.ts';

/** This function's routes of the environments' API (infra/stack/environment-api.ts). */
export const templateRoutes = [
  'ANY /api/v2/templates',
  'ANY /api/v2/templates/{proxy+}',
  'ANY /api/v2/templateversions/{proxy+}',
  'ANY /api/v2/organizations/{organization}/templates',
  'ANY /api/v2/organizations/{organization}/templates/{proxy+}',
  'ANY /api/v2/organizations/{organization}/templateversions',
];

export const EnvironmentTemplates: HttpDeclaration = {
  entry: 'functions/environments/templates/handler.ts',
  description: "Templates of environments (Coder's API): versions, imports and dry runs",
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit', 'environments', 'environmentSweep'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('configurations', 'policies', 'runs', 'uploads'),
    may.writeObjects('inputs', 'policies'),
    may.seeMissingObjects(),
    may.startExecutions(),
    may.answerExecutions(),
    may.sweepEnvironments(),
  ],
  // The web page maps its paths itself (functions/clients/web/environments-client.ts): an API has no route keys to
  // spare.
  http: { subtrees: ['ANY /environments/templates/api/v2/{proxy+}'], authorization: bearer },
};
