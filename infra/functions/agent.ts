import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Agent: HttpDeclaration = {
  entry: 'functions/runner/api/agents.ts',
  description: 'The agent protocol: jobs for machines of their owners',
  timeoutSeconds: 29,
  environment: ['table', 'bucket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'),
    // A runner of an agent that is gone without a word.
    may.answerExecutions(),
  ],
  http: {
    subtrees: ['ANY /agent/v1/{proxy+}'],
    authorization: 'The function checks the token of an agent pool (stored hashed); agents have no other credentials.',
  },
};
