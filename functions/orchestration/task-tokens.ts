// Through the AWS SDK on purpose (decisions/0005).
import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
} from '@aws-sdk/client-sfn';
import type { Resume } from '../run/lifecycle.ts';
import { directly } from '../store/direct-calls.ts';

/** Answers to executions that wait with a task token: for a run, or for one of its run tasks. Each may be repeated. */

const client = new SFNClient(directly('states'));

/** False when the token is no longer valid: it was answered, timed out, or its execution has ended. */
const send = async (answer: Promise<unknown>): Promise<boolean> => {
  try {
    await answer;
    return true;
  } catch (error) {
    if (['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'].includes((error as Error).name)) return false;
    throw error;
  }
};

export const answerWait = (taskToken: string, answer: Resume): Promise<boolean> =>
  send(
    'output' in answer
      ? client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(answer.output) }))
      : client.send(new SendTaskFailureCommand({ taskToken, error: answer.error, cause: answer.cause.slice(0, 4000) })),
  );

/** The task has a result; the machine reads it from the record. */
export const endTaskWait = (taskToken: string): Promise<boolean> => answerWait(taskToken, { output: {} });

/** The run was canceled, so the result is not needed. */
export const cancelTaskWait = (taskToken: string, cause: string): Promise<boolean> =>
  answerWait(taskToken, { error: 'Canceled', cause });

/** Sends a heartbeat for a task that is still running. */
export const extendWait = (taskToken: string): Promise<boolean> =>
  send(client.send(new SendTaskHeartbeatCommand({ taskToken })));
