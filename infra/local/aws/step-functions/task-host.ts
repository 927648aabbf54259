import type { PendingTask } from './execution.ts';

export interface TaskHost {
  readonly invoke: Invoke;
  readonly region: string;
  readonly executionName: string;
  readonly pending: Map<string, PendingTask>;
  issueToken(task: string): string;
}

/**
 * Invokes a Lambda function. Rejects with an Error whose `name` is Lambda's errorType. Its optional `cause` is Lambda's
 * JSON (`{errorType, errorMessage, trace}`), which becomes the Cause. A name that begins with `Lambda.` is an error of
 * the service itself, whose Cause is plain text.
 */
export type Invoke = (
  functionArn: string,
  payload: unknown,
  context: { executionName: string; stateName: string },
) => Promise<unknown>;
