import type { Declaration } from '../declaration.ts';
import { rightsToFinishRuns } from '../shared-rights.ts';

export const ExecutionStopped: Declaration = {
  entry: 'functions/repair/execution-stopped.ts',
  description: 'Finishes runs whose execution was stopped, failed or timed out',
  timeoutSeconds: 30,
  environment: ['table', 'bucket', 'cluster', 'notify'],
  rights: (may) => [...rightsToFinishRuns(may), may.answerExecutions(), may.keepLostEvents()],
};
