import { ListExecutionsCommand, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { environment } from '#platform/environment.ts';
import { states } from '#platform/store/states.ts';
import { getRun } from '#resources/runs/records.ts';
import { isFinal } from '#run/status.ts';

/** Stops executions whose run has ended or no longer exists. @returns their names */
export const stopOrphanedExecutions = async (): Promise<string[]> => {
  const stopped: string[] = [];
  const { stateMachineArn } = environment;
  for (let nextToken: string | undefined, first = true; first || nextToken; first = false) {
    const page = await states().send(
      new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING', nextToken }),
    );
    nextToken = page.nextToken;
    for (const { executionArn, name = '' } of page.executions ?? []) {
      const run = await getRun(name);
      if (run && !isFinal(run.status)) continue;
      await states().send(
        new StopExecutionCommand({ executionArn, cause: 'The platform was restored to an earlier time.' }),
      );
      stopped.push(name);
    }
  }
  return stopped;
};
