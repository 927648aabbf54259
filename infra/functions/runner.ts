import type { HttpDeclaration } from '#infra/stack/declaration.ts';

export const Runner: HttpDeclaration = {
  entry: 'functions/runner/api/handler.ts',
  description: 'The runner protocol',
  timeoutSeconds: 29,
  environment: [
    'table',
    'bucket',
    'key',
    'machine',
    'identity',
    'publicUrl',
    'runs',
    'warmRunners',
    'sharedProviders',
    'fetchProvider',
    'runnerProgram',
    'environmentLogs',
  ],
  rights: (may) => [
    // Reads teams and projects: the creator of a run must still have the permission to apply when its runner claims the
    // apply with the plan's report.
    may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.readObjects('configurations', 'inputs', 'runs', 'states', 'uploads', 'providers'),
    may.writeObjects('runs', 'states', 'uploads'),
    may.seeMissingObjects(),
    may.answerExecutions('Heartbeat'),
    may.signIdentities(),
    may.pushLogs(),
    may.fetchProviders(),
    ...may.readRunnerProgram(),
  ],
  http: {
    subtrees: ['ANY /runner/v1/{proxy+}'],
    authorization:
      'The function checks the claim or token of one run and phase; runners have no other credentials by design. Their program is public.',
    unlimited: true,
  },
};
