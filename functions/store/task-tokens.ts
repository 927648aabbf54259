// Through the AWS SDK on purpose (decisions/0005).
import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
} from '@aws-sdk/client-sfn';

/** Answers to executions that wait for a run task. */

const client = new SFNClient({});

/** False when nobody waits with the token any more: it was answered before, timed out, or its execution is gone. */
const tell = async (answer: Promise<unknown>): Promise<boolean> => {
  try {
    await answer;
    return true;
  } catch (error) {
    if (['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'].includes((error as Error).name)) return false;
    throw error;
  }
};

/** The task has its result; which, is read from its record. */
export const endTaskWait = (taskToken: string): Promise<boolean> =>
  tell(client.send(new SendTaskSuccessCommand({ taskToken, output: '{}' })));

/** The run was canceled: nobody cares for the result. */
export const cancelTaskWait = (taskToken: string, cause: string): Promise<boolean> =>
  tell(client.send(new SendTaskFailureCommand({ taskToken, error: 'Canceled', cause: cause.slice(0, 4000) })));

/** The task is still at work. */
export const extendTaskWait = (taskToken: string): Promise<boolean> =>
  tell(client.send(new SendTaskHeartbeatCommand({ taskToken })));
