import type { HttpDeclaration } from '../declaration.ts';

export const Agent: HttpDeclaration = {
  entry: 'functions/agents/handler.ts',
  description: 'The agent protocol: jobs for machines of their owners',
  timeoutSeconds: 29,
  environment: ['table'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'),
    may.tableKey(),
    // A runner of an agent that is gone without a word.
    may.answerExecutions(),
  ],
  http: {
    subtrees: ['ANY /agent/v1/{proxy+}'],
    authorization: 'The function checks the token of an agent pool (stored hashed); agents have no other credentials.',
  },
};
