import type { Declaration } from '../declaration.ts';

/** Behind an API of its own (infra/environment-api.ts). */
export const Environments: Declaration = {
  entry: 'functions/environments/handler.ts',
  description: "Environments (Coder's API): templates, environments and their builds",
  timeoutSeconds: 29,
  environment: ['table', 'bucket', 'key', 'machine', 'requestLimit', 'environments'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('configurations', 'policies', 'runs', 'states', 'uploads'),
    may.writeObjects('configurations', 'inputs', 'policies', 'states'),
    may.seeMissingObjects(),
    may.startExecutions(),
    may.answerExecutions(),
  ],
};
