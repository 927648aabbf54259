// Imported from the AWS SDK deliberately (decisions/0005).
import { ListExecutionsCommand, SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { environment } from '#platform/environment.ts';
import { directly } from '#platform/store/direct-calls.ts';
import { getRun } from '#resources/runs/records.ts';
import { isFinal } from '#run/status.ts';

const client = new SFNClient(directly('states'));

/** Stops executions whose run has ended or no longer exists. @returns their names */
export const stopOrphanedExecutions = async (): Promise<string[]> => {
  const stopped: string[] = [];
  const { stateMachineArn } = environment;
  for (let nextToken: string | undefined, first = true; first || nextToken; first = false) {
    const page = await client.send(new ListExecutionsCommand({ stateMachineArn, statusFilter: 'RUNNING', nextToken }));
    nextToken = page.nextToken;
    for (const { executionArn, name = '' } of page.executions ?? []) {
      const run = await getRun(name);
      if (run && !isFinal(run.status)) continue;
      await client.send(
        new StopExecutionCommand({ executionArn, cause: 'The platform was restored to an earlier time.' }),
      );
      stopped.push(name);
    }
  }
  return stopped;
};
