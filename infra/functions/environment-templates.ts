import { bearer, type HttpDeclaration } from '../declaration.ts';

/** Where the web page reaches the environments' API on its own origin. */
export const pagePrefix = '/environments/api/v2';

/** Routes of the environments' API (infra/environment-api.ts) that are for it. */
export const templatePaths = [
  '/files',
  '/files/{proxy+}',
  '/templates',
  '/templates/{proxy+}',
  '/templateversions/{proxy+}',
  '/organizations/{organization}/templates',
  '/organizations/{organization}/templates/{proxy+}',
  '/organizations/{organization}/templateversions',
];

export const EnvironmentTemplates: HttpDeclaration = {
  entry: 'functions/environments/templates/handler.ts',
  description: "Templates of environments (Coder's API): files, versions, imports and dry runs",
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit', 'environments'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('configurations', 'policies', 'runs', 'uploads'),
    may.writeObjects('configurations', 'inputs', 'policies'),
    may.seeMissingObjects(),
    may.startExecutions(),
    may.answerExecutions(),
  ],
  http: { subtrees: templatePaths.map((path) => `ANY ${pagePrefix}${path}`), authorization: bearer },
};
