import type { Declaration } from '../declaration.ts';

export const RunnerStopped: Declaration = {
  entry: 'functions/orchestration/runner-stopped.ts',
  description: 'Ends the phase of a runner whose container is gone',
  timeoutSeconds: 30,
  environment: ['table', 'launch'],
  rights: (may) => [
    may.table('GetItem', 'Query', 'UpdateItem'),
    may.tableKey(),
    ...may.launch(),
    may.onTasks('StopTask'),
    may.answerExecutions(),
    may.keepLostEvents(),
  ],
};
