import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Agent: HttpDeclaration = {
  entry: 'functions/runner/api/agents.ts',
  description: 'The agent protocol: jobs for agents on machines of users',
  timeoutSeconds: 29,
  environment: ['table', 'bucket'],
  rights: (may) => [
    may.table('GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'),
    // Stops the runner of an agent that disappeared.
    may.answerExecutions(),
  ],
  http: {
    subtrees: ['ANY /agent/v1/{proxy+}'],
    authorization: 'The function checks the token of an agent pool (stored hashed); agents have no other credentials.',
  },
};
