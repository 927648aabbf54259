import {
  SendTaskFailureCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { environment } from '#platform/environment.ts';
import { states } from '#platform/store/states.ts';
import type { TaskResult } from '#resources/run-tasks/results.ts';
import { openTaskTokens } from '#resources/run-tasks/stages.ts';
import { firstState, type Resume, resume } from '#run/lifecycle.ts';
import { phaseSeconds } from '#run/limits.ts';
import type { Run } from '#run/run.ts';
import { isResultFinal } from '#run/task-stages.ts';

/**
 * Starts a run's execution, and resumes its waits. An execution waits with one task token for the run, or with one
 * per run task. Everything here can be repeated.
 */

/** Items of the state machine's Map states, by stage. */
const taskResultsOf = ({ checks }: Run): Record<string, string[]> | undefined =>
  checks?.tasks &&
  Object.fromEntries(Object.entries(checks.tasks).map(([stage, { taskResultIds }]) => [stage, taskResultIds]));

/**
 * Executions are named after their run, so starting twice is harmless (Step Functions: StartExecution is idempotent).
 */
export const startExecution = async (run: Run): Promise<void> => {
  try {
    await states().send(
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

/** False when the token is no longer valid: it was used, it timed out, or its execution has ended. */
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
      ? states().send(new SendTaskSuccessCommand({ taskToken, output: JSON.stringify(answer.output) }))
      : states().send(
          new SendTaskFailureCommand({ taskToken, error: answer.error, cause: answer.cause.slice(0, 4000) }),
        ),
  );

/**
 * Resumes the execution that waits for a final result, which it reads from the record; false when no execution waits.
 * Can be repeated.
 */
export const deliverResult = async ({ status, token }: TaskResult): Promise<boolean> =>
  !!token && isResultFinal(status) && answerWait(token, { output: {} });

/** Called when the run was canceled and the result is no longer needed. */
export const cancelTaskWait = (taskToken: string, cause: string): Promise<boolean> =>
  answerWait(taskToken, { error: 'Canceled', cause });

/** Sends a heartbeat for a task that is still running. */
export const extendWait = (taskToken: string): Promise<boolean> =>
  send(states().send(new SendTaskHeartbeatCommand({ taskToken })));

/** Resumes the waiting execution if the run's item determines how. Can be repeated. */
export const deliver = async (run: Run): Promise<boolean> => {
  const answer = resume(run);
  if (!answer || !run.wait) return false;
  const tokens = run.wait.token ? [run.wait.token] : await openTaskTokens(run);
  await Promise.all(tokens.map((taskToken) => answerWait(taskToken, answer)));
  return tokens.length > 0;
};

/** False when the execution no longer waits. */
export const heartbeat = async (run: Run): Promise<boolean> => !!run.wait?.token && extendWait(run.wait.token);
