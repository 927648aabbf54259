import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { type Check, differs, seconds, within } from '../check.ts';

const maximum = 60;
const cause = 'stepform verify stopped it';

export const executionStopped: Check = {
  name: 'execution stopped',
  proves: 'A run whose execution is stopped from outside (states:StopExecution) ends with that reason',
  documented: `the run ends as errored within ${maximum} s`,
  async perform(platform) {
    const { client } = platform;
    // A run that waits for the workspace's lock needs no container.
    const workspace = await platform.newWorkspace('execution');
    await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'stepform verify' });
    const { run } = await platform.start(workspace, { 'main.tf': '' });
    const began = Date.now();
    await new SFNClient({}).send(new StopExecutionCommand({ executionArn: platform.executionArn(run.id), cause }));
    const { attributes } = await platform.ended(run, 'errored');
    const took = (Date.now() - began) / 1000;
    const reason = attributes['end-reason'] ?? '';
    if (!reason.includes(cause)) return differs(`its reason lacks the cause: ${reason}`, { seconds: took });
    return within(took, maximum, `errored ${seconds(took)} after its execution`, { seconds: took });
  },
};
