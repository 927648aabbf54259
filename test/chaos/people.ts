import { SendTaskFailureCommand, SFNClient } from '@aws-sdk/client-sfn';
import { ApiError, type Resource, type RunAction } from '../../functions/client/client.ts';
import type { Campaign } from './campaign.ts';
import type { ChaosAction } from './model.ts';

/** Actions of users on runs, which the model records. */

const perform = async (
  campaign: Campaign,
  runId: string,
  action: ChaosAction,
  ask: () => Promise<unknown>,
): Promise<void> => {
  try {
    await ask();
    campaign.model.noteAction(runId, action, 'accepted');
    campaign.tally.note(action, runId);
  } catch (error) {
    const refused = error instanceof ApiError && error.status < 500;
    campaign.model.noteAction(runId, action, refused ? 'refused' : 'unknown');
    throw error;
  }
};

export const act = (campaign: Campaign, runId: string, action: Exclude<RunAction, 'force-execute'>): Promise<void> =>
  perform(campaign, runId, action, () => campaign.client.act(runId, action));

export const overridable = ({ attributes: { status } }: Resource): boolean =>
  status === 'policy_override' || status === 'post_plan_awaiting_decision';

export const override = (campaign: Campaign, { id, attributes }: Resource): Promise<void> =>
  perform(campaign, id, 'override', async () => {
    const { client } = campaign;
    if (attributes.status === 'policy_override') {
      await client.call('POST', `/policy-checks/${id.replace('run-', 'polchk-')}/actions/override`, {});
      return;
    }
    const stages = await client.list(`/runs/${id}/task-stages`);
    const stage = stages.find((one) => one.attributes.status === 'awaiting_override');
    if (stage) await client.call('POST', `/task-stages/${stage.id}/actions/override`, {});
  });

/** Longer than the latest run task takes to answer. */
const silenceMs = 25_000;

/** Everybody does what is expected of them; who would be waited for in vain has been waited for. */
export const bringOn = async (campaign: Campaign): Promise<void> => {
  for (const { id } of campaign.places) {
    const { locked, 'locked-by': by } = (await campaign.client.get(`/workspaces/${id}`)).attributes;
    if (locked && by !== 'run')
      await campaign.client.call('POST', `/workspaces/${id}/actions/unlock`, {}).catch(() => {});
  }
  for (const run of await campaign.openRuns()) {
    const { 'is-confirmable': waits, 'is-discardable': open } = run.attributes.actions;
    // Somebody else may have been faster.
    const decision = overridable(run)
      ? override(campaign, run)
      : waits && open && act(campaign, run.id, run.attributes['save-plan'] ? 'discard' : 'apply');
    await Promise.resolve(decision).catch(() => {});
    await endSilence(campaign, run.id);
    if (campaign.model.wasStopped(run.id)) await letHourPass(run.id);
  }
};

/** When nobody told that its execution was stopped, the sweep sees it within the hour. */
const letHourPass = async (runId: string): Promise<void> => {
  const { updateRun } = await import('../../functions/runs/records.ts');
  const { dueIn } = await import('../../functions/store/due.ts');
  await updateRun(runId, { set: dueIn(runId, 0) });
};

/** Ten minutes without a word of a run task end its wait; they pass faster here. */
const endSilence = async ({ local, tally }: Campaign, runId: string): Promise<void> => {
  const { getRun } = await import('../../functions/runs/records.ts');
  const { listTaskResults } = await import('../../functions/run-tasks/stages.ts');
  const run = await getRun(runId);
  for (const { status, token, waitingSince, id } of run?.checks?.tasks ? await listTaskResults(run) : []) {
    const silent = token && Date.now() - Date.parse(waitingSince ?? '') > silenceMs;
    if (!silent || (status !== 'pending' && status !== 'running')) continue;
    tally.note('run task waited for in vain', id);
    await new SFNClient({ endpoint: local.awsEndpointUrl })
      .send(new SendTaskFailureCommand({ taskToken: token, error: 'States.HeartbeatTimeout' }))
      .catch(() => {});
  }
};
