import type { Declaration } from '#infra/stack/declaration.ts';

export const EnvironmentSweep: Declaration = {
  entry: 'functions/environments/sweep-handler.ts',
  description: 'Starts and stops environments on schedule, fills prebuilt pools, and resumes interrupted builds',
  // Handles at most fifty environments, one after the other.
  timeoutSeconds: 300,
  environment: ['table', 'bucket', 'key', 'machine', 'environments'],
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
