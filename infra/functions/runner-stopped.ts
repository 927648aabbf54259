import type { Declaration } from '#infra/stack/declaration.ts';

export const RunnerStopped: Declaration = {
  entry: 'functions/lifecycle/runners/runner-stopped.ts',
  description: 'Ends the phase of a runner whose container has stopped',
  timeoutSeconds: 30,
  environment: ['table'],
  rights: (may) => [may.table('GetItem', 'Query', 'UpdateItem'), may.answerExecutions(), may.keepLostEvents()],
};
