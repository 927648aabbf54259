// Through the AWS SDK on purpose (decisions/0005).
import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { environment } from '#platform/environment.ts';
import { directly } from '#platform/store/direct-calls.ts';
import type { TaskResult } from '#resources/run-tasks/results.ts';
import { openTaskTokens } from '#resources/run-tasks/stages.ts';
import { firstState, type Resume, resume } from '#run/lifecycle.ts';
import { phaseSeconds } from '#run/limits.ts';
import type { Run } from '#run/run.ts';
import { isResultFinal } from '#run/task-stages.ts';

/**
 * A run's execution: starting it, and resuming its waits. An execution waits with a task token for the run, or with one
 * for each run task. Everything here may be repeated.
 */

const client = new SFNClient(directly('states'));

/** The items of the machine's Map states, by stage. */
const taskResultsOf = ({ checks }: Run): Record<string, string[]> | undefined =>
  checks?.tasks &&
  Object.fromEntries(Object.entries(checks.tasks).map(([stage, { taskResultIds }]) => [stage, taskResultIds]));

/** Names of executions are run ids, so starting twice is harmless (Step Functions: StartExecution is idempotent). */
export const startExecution = async (run: Run): Promise<void> => {
  try {
    await client.send(
      new StartExecutionCommand({
        stateMachineArn: environment.stateMachineArn,
        name: run.id,
        input: JSON.stringify({
          runId: run.id,
          workspaceId: run.workspaceId,
          planTimeoutSeconds: phaseSeconds(run, 'plan'),
          applyTimeoutSeconds: phaseSeconds(run, 'apply'),
          taskResults: taskResultsOf(run),
          result: { next: firstState(run) },
        }),
      }),
    );
  } catch (error) {
    if ((error as Error).name !== 'ExecutionAlreadyExists') throw error;
  }
};

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

/**
 * Resumes the execution that waits for a final result, which it reads from the record; false when none waits. May be
 * repeated.
 */
export const deliverResult = async ({ status, token }: TaskResult): Promise<boolean> =>
  !!token && isResultFinal(status) && answerWait(token, { output: {} });

/** The run was canceled, so the result is not needed. */
export const cancelTaskWait = (taskToken: string, cause: string): Promise<boolean> =>
  answerWait(taskToken, { error: 'Canceled', cause });

/** Sends a heartbeat for a task that is still running. */
export const extendWait = (taskToken: string): Promise<boolean> =>
  send(client.send(new SendTaskHeartbeatCommand({ taskToken })));

/** Resumes the waiting execution if the run item has an answer for it. May be repeated. */
export const deliver = async (run: Run): Promise<boolean> => {
  const answer = resume(run);
  if (!answer || !run.wait) return false;
  const tokens = run.wait.token ? [run.wait.token] : await openTaskTokens(run);
  await Promise.all(tokens.map((taskToken) => answerWait(taskToken, answer)));
  return tokens.length > 0;
};

/** False when the execution no longer waits. */
export const heartbeat = async (run: Run): Promise<boolean> => !!run.wait?.token && extendWait(run.wait.token);
