import type { Declaration } from '#infra/stack/declaration.ts';

export const RunnerStopped: Declaration = {
  entry: 'functions/lifecycle/runners/runner-stopped.ts',
  description: 'Ends the phase of a runner whose container has stopped',
  timeoutSeconds: 30,
  environment: ['table', 'maxRunners'],
  rights: (may) => [
    // Gives the container's slot to a run that waits, and removes that from the queue.
    may.table('GetItem', 'Query', 'UpdateItem', 'DeleteItem'),
    may.answerExecutions(),
    may.keepLostEvents(),
  ],
};
