// Through the AWS SDK on purpose (decisions/0005).
import { SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { environment } from '../environment.ts';
import { resume } from '../run/lifecycle.ts';
import { phaseSeconds } from '../run/limits.ts';
import type { Run } from '../run/run.ts';
import { openTaskTokens } from '../run-tasks/stages.ts';
import { answerWait, extendWait } from './task-tokens.ts';

const client = new SFNClient({});

/** What the machine's Map states go over, by stage. */
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

/** Tells the waiting execution what the run item says, if it says anything. May be repeated at will. */
export const deliver = async (run: Run): Promise<boolean> => {
  const answer = resume(run);
  if (!answer || !run.wait) return false;
  const tokens = run.wait.token ? [run.wait.token] : await openTaskTokens(run);
  await Promise.all(tokens.map((taskToken) => answerWait(taskToken, answer)));
  return tokens.length > 0;
};

/** False when the execution no longer waits. */
export const heartbeat = async (run: Run): Promise<boolean> => !!run.wait?.token && extendWait(run.wait.token);
