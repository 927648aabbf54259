import type { Declaration } from '../declaration.ts';

/** Behind an API of its own (infra/environment-api.ts). */
export const Environments: Declaration = {
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
};
