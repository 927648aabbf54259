// Through the AWS SDK on purpose (decisions/0005).
import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { environment } from '../environment.ts';
import { type Resume, resume } from '../run/lifecycle.ts';
import type { Run } from '../run/run.ts';
import { openTaskTokens } from './task-stages.ts';

const client = new SFNClient({});

/** The token was answered before, or its execution is gone: nothing is left to resume. */
const isOver = (error: unknown): boolean =>
  ['TaskTimedOut', 'TaskDoesNotExist', 'InvalidToken'].includes((error as Error).name);

/** What the machine's Map states go over, by stage. */
const taskResultsOf = ({ checks }: Run): Record<string, string[]> | undefined =>
  checks?.tasks &&
  Object.fromEntries(Object.entries(checks.tasks).map(([stage, { taskResultIds }]) => [stage, taskResultIds]));

/** Names of executions are run ids, so starting twice is harmless (Step Functions: StartExecution is idempotent). */
export const startExecution = async (
  run: Run,
  limits: { planSeconds: number; applySeconds: number },
): Promise<void> => {
  try {
    await client.send(
      new StartExecutionCommand({
        stateMachineArn: environment.stateMachineArn,
        name: run.id,
        input: JSON.stringify({
          runId: run.id,
          workspaceId: run.workspaceId,
          planTimeoutSeconds: limits.planSeconds,
          applyTimeoutSeconds: limits.applySeconds,
          taskResults: taskResultsOf(run),
        }),
      }),
    );
  } catch (error) {
    if ((error as Error).name !== 'ExecutionAlreadyExists') throw error;
  }
};

/** Tells the waiting execution what the run item says, if it says anything. May be repeated at will. */
export const deliver = async (run: Run): Promise<boolean> => {
  const answer = resume(run);
  if (!answer || !run.wait) return false;
  const tokens = run.wait.token ? [run.wait.token] : await openTaskTokens(run);
  await Promise.all(tokens.map((taskToken) => tell(taskToken, answer)));
  return tokens.length > 0;
};

const tell = async (taskToken: string, answer: Resume): Promise<void> => {
  try {
    if ('output' in answer) {
      await client.send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(answer.output) }));
    } else {
      await client.send(
        new SendTaskFailureCommand({ taskToken, error: answer.error, cause: answer.cause.slice(0, 4000) }),
      );
    }
  } catch (error) {
    if (!isOver(error)) throw error;
  }
};

/** False when the execution no longer waits. */
export const heartbeat = async (run: Run): Promise<boolean> => {
  if (!run.wait?.token) return false;
  try {
    await client.send(new SendTaskHeartbeatCommand({ taskToken: run.wait.token }));
    return true;
  } catch (error) {
    if (isOver(error)) return false;
    throw error;
  }
};
