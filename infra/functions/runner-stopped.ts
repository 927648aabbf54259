import type { Declaration } from '#infra/stack/declaration.ts';

export const RunnerStopped: Declaration = {
  entry: 'functions/lifecycle/runners/runner-stopped.ts',
  description: 'Ends the phase of a runner whose container has stopped',
  timeoutSeconds: 30,
  environment: ['table', 'launch'],
  rights: (may) => [
    may.table('GetItem', 'Query', 'UpdateItem'),
    ...may.launch(),
    may.onTasks('StopTask'),
    may.answerExecutions(),
    may.keepLostEvents(),
  ],
};
