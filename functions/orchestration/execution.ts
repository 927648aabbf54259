// Through the AWS SDK on purpose (decisions/0005).
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { environment } from '../environment.ts';
import { resume } from '../run/lifecycle.ts';
import { phaseSeconds } from '../run/limits.ts';
import type { Run } from '../run/run.ts';
import { openTaskTokens } from '../run-tasks/stages.ts';
import { directly } from '../store/direct-calls.ts';
import { answerWait, extendWait } from './task-tokens.ts';

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
        }),
      }),
    );
  } catch (error) {
    if ((error as Error).name !== 'ExecutionAlreadyExists') throw error;
  }
};

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
