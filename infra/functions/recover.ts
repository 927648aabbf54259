import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToFinishRuns } from '#infra/stack/shared-rights.ts';

export const Recover: Declaration = {
  entry: 'functions/lifecycle/recovery/handler.ts',
  description: 'After the table was restored: ends runs and brings in last states; invoked by an operator',
  timeoutSeconds: 900,
  environment: ['table', 'bucket', 'machine', 'cluster', 'notify'],
  rights: (may) => [
    ...rightsToFinishRuns(may),
    may.dueIndex(),
    may.answerExecutions(),
    may.listExecutions(),
    may.stopExecutions(),
  ],
};
