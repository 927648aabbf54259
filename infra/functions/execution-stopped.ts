import type { Declaration } from '#infra/stack/declaration.ts';
import { rightsToFinishRuns } from '#infra/stack/shared-rights.ts';

export const ExecutionStopped: Declaration = {
  entry: 'functions/lifecycle/repair/execution-stopped.ts',
  description: 'Finishes runs whose execution was stopped, failed or timed out',
  timeoutSeconds: 30,
  environment: ['table', 'bucket', 'cluster', 'notify', 'maxRunners'],
  rights: (may) => [...rightsToFinishRuns(may), may.answerExecutions(), may.keepLostEvents()],
};
