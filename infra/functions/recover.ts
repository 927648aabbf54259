import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToFinishRuns } from '#infra/stack/shared-rights.ts';

export const Recover: Declaration = {
  entry: 'functions/lifecycle/recovery/handler.ts',
  description: 'After a restore of the table: makes last states current and ends runs; invoked by an operator',
  timeoutSeconds: 900,
  environment: ['table', 'bucket', 'machine', 'cluster', 'notify'],
  rights: (may) => [
    ...rightsToFinishRuns(may),
    may.index('due'),
    may.answerExecutions(),
    may.listExecutions(),
    may.stopExecutions(),
  ],
};
