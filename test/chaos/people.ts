import { SendTaskFailureCommand, SFNClient } from '@aws-sdk/client-sfn';
import { ApiError, isFinalRun, type Resource } from '#clients/client/client.ts';
import type { DirectAction } from '#run/status.ts';
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

export const act = (campaign: Campaign, runId: string, action: Exclude<DirectAction, 'force-execute'>): Promise<void> =>
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

type Holder = { type: string; id: string } | null | undefined;

/** Longer than the slowest run task. */
const silenceMs = 25_000;

/**
 * An ended run holds the lock of its workspace while its state may lack resources that it created. Force-unlocks it,
 * like an administrator after a check; the audit checks the lock.
 */
export const giveUpStates = async ({ places, client, model, tally }: Campaign): Promise<void> => {
  for (const { id, name } of places) {
    const { attributes, relationships } = await client.get(`/workspaces/${id}`);
    const holder = relationships?.['locked-by']?.data as Holder;
    if (holder?.type !== 'runs' || !isFinalRun(await client.run(holder.id))) continue;
    // A run that has just ended keeps the lock a moment longer for another reason.
    if (attributes['locked-reason'] === `Locked by Run ${holder.id}`) continue;
    model.lockedBy.add(holder.id);
    await client.call('POST', `/workspaces/${id}/actions/force-unlock`, {});
    tally.note('state given up', `${name} of ${holder.id}`);
  }
};

/** Resolves every wait for a user; overdue waits have ended by then. */
export const bringOn = async (campaign: Campaign): Promise<void> => {
  for (const { id } of campaign.places) {
    const { attributes, relationships } = await campaign.client.get(`/workspaces/${id}`);
    if (attributes.locked && (relationships?.['locked-by']?.data as Holder)?.type !== 'runs')
      await campaign.client.call('POST', `/workspaces/${id}/actions/unlock`, {}).catch(() => {});
  }
  await giveUpStates(campaign).catch(() => {});
  for (const run of await campaign.openRuns()) {
    const { 'is-confirmable': waits, 'is-discardable': open } = run.attributes.actions;
    // Another user may have been faster.
    const decision = overridable(run)
      ? override(campaign, run)
      : waits && open && act(campaign, run.id, run.attributes['save-plan'] ? 'discard' : 'apply');
    await Promise.resolve(decision).catch(() => {});
    await endSilence(campaign, run.id);
    if (campaign.model.wasStopped(run.id)) await letHourPass(run.id);
  }
};

/** If the event of a stopped execution was lost, the sweep notices it within the hour. */
const letHourPass = async (runId: string): Promise<void> => {
  const { updateRun } = await import('#resources/runs/records.ts');
  const { dueIn } = await import('#platform/store/due.ts');
  await updateRun(runId, { set: dueIn(runId, 0) });
};

/** Ten minutes without a response of a run task end its wait; they pass faster here. */
const endSilence = async ({ local, tally }: Campaign, runId: string): Promise<void> => {
  const { getRun } = await import('#resources/runs/records.ts');
  const { listTaskResults } = await import('#resources/run-tasks/stages.ts');
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
