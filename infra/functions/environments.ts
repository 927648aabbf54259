import { bearer, type HttpDeclaration } from '../declaration.ts';

/** Behind an API of its own (infra/environment-api.ts), and for the web page on the page's own origin. */
export const Environments: HttpDeclaration = {
  entry: 'functions/environments/handler.ts',
  description: "Environments and their builds (Coder's API)",
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
  http: { subtrees: ['ANY /environments/api/v2/{proxy+}'], authorization: bearer },
};
