import type { PendingTask } from './execution.ts';
import type { Invoke } from './task.ts';

export interface TaskHost {
  readonly invoke: Invoke;
  readonly region: string;
  readonly executionName: string;
  readonly pending: Map<string, PendingTask>;
  issueToken(task: string): string;
}
