import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import type { Resource } from '#clients/client/client.ts';
import { endCoolOff } from '#test/e2e/support/operator.ts';
import { runners, send } from '#test/e2e/support/runners.ts';
import type { Campaign } from './campaign.ts';
import { type RunKind, runKinds } from './model.ts';
import { act, giveUpStates, overridable, override } from './people.ts';
import type { Chance } from './seeded-random.ts';

/** Actions of a campaign, with their weights. Each draws its choices before it reads the current state. */

type Performer = (campaign: Campaign, chance: Chance) => Promise<void>;

const kinds: Record<RunKind, number> = { apply: 10, confirm: 4, destroy: 2, planOnly: 2, savePlan: 1 };

const onOne = async (
  campaign: Campaign,
  chance: Chance,
  may: (run: Resource) => boolean,
  work: (run: Resource) => Promise<void>,
): Promise<void> => {
  const choice = chance.fork();
  const run = choice.one((await campaign.openRuns()).filter(may));
  if (run) await work(run);
};

const allows = (action: string) => (run: Resource) => run.attributes.actions[action];

/** @returns a function that ends the sleep */
const hurt = (
  campaign: Campaign,
  chance: Chance,
  what: string,
  name: NodeJS.Signals,
  whole: 'process' | 'group' = 'group',
) => {
  const runner = chance.one(runners(campaign.folder));
  if (!runner) return () => {};
  send(runner, name, whole);
  campaign.tally.note(`runner ${what}`, runner.startedBy);
  return () => send(runner, 'SIGCONT');
};

const performers = {
  create: async (campaign, chance) => {
    const [place, kind, choice] = [chance.one(campaign.places), chance.weighted(kinds), chance.fork()];
    if (!place || (await campaign.isFull())) return;
    const version = choice.one(place.versions) as (typeof place.versions)[number];
    const { id } = await campaign.client.createRun(place.id, runKinds[kind], version.id);
    campaign.model.created(id, place, kind, version.flavor);
    campaign.tally.note('run created', `${id} ${kind} ${place.name} ${JSON.stringify(version.flavor)}`);
  },
  confirm: (campaign, chance) =>
    onOne(campaign, chance, allows('is-confirmable'), (run) => act(campaign, run.id, 'apply')),
  discard: (campaign, chance) =>
    onOne(campaign, chance, allows('is-discardable'), (run) => act(campaign, run.id, 'discard')),
  cancel: (campaign, chance) =>
    onOne(campaign, chance, allows('is-cancelable'), (run) => act(campaign, run.id, 'cancel')),
  override: (campaign, chance) => onOne(campaign, chance, overridable, (run) => override(campaign, run)),
  forceCancel: (campaign, chance) =>
    onOne(campaign, chance, allows('is-cancelable'), async (run) => {
      await act(campaign, run.id, 'cancel');
      await endCoolOff(run.id);
      await act(campaign, run.id, 'force-cancel');
    }),
  /** Like an operator in the console of Step Functions. */
  stopExecution: (campaign, chance) =>
    onOne(
      campaign,
      chance,
      () => true,
      async (run) => {
        const { awsEndpointUrl: endpoint, stateMachineArn } = campaign.local;
        const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${run.id}`;
        await new SFNClient({ endpoint })
          .send(new StopExecutionCommand({ executionArn, cause: 'chaos' }))
          .catch((error: Error) => campaign.tally.note('execution not stopped', error.message));
        campaign.model.noteAction(run.id, 'stop', 'accepted');
        campaign.tally.note('execution stopped', run.id);
      },
    ),
  lock: async (campaign, chance) => {
    const place = chance.one(campaign.places);
    if (!place) return;
    await campaign.client.call('POST', `/workspaces/${place.id}/actions/lock`, { reason: 'chaos' });
    campaign.tally.note('workspace locked', place.name);
  },
  unlock: async (campaign, chance) => {
    const place = chance.one(campaign.places);
    if (!place) return;
    await campaign.client.call('POST', `/workspaces/${place.id}/actions/unlock`, {});
    campaign.tally.note('workspace unlocked', place.name);
  },
  estimates: async ({ client, local, tally }, chance) => {
    const enabled = chance.integer(2) === 1;
    await client.call('PATCH', `/organizations/${local.organization}`, {
      data: { type: 'organizations', attributes: { 'cost-estimation-enabled': enabled } },
    });
    tally.note(`estimates ${enabled ? 'on' : 'off'}`);
  },
  createEnvironment: async (campaign, chance) => {
    const choice = chance.fork();
    if (!(await campaign.isFull())) await campaign.environments.create(choice);
  },
  buildEnvironment: (campaign, chance) => campaign.environments.build(chance),
  cancelBuild: (campaign, chance) => campaign.environments.cancel(chance),
  push: (campaign, chance) => campaign.pushes.push(chance),
  killRunner: async (campaign, chance) => void hurt(campaign, chance, 'killed', 'SIGKILL'),
  /** Like the system's out-of-memory killer: its child processes continue until the end of the container is noticed. */
  killRunnerAlone: async (campaign, chance) => void hurt(campaign, chance, 'killed alone', 'SIGKILL', 'process'),
  stopRunner: async (campaign, chance) => void hurt(campaign, chance, 'stopped', 'SIGTERM', 'process'),
  freezeRunner: async (campaign, chance) => {
    const ms = chance.between(1000, 180_000);
    setTimeout(hurt(campaign, chance, 'frozen', 'SIGSTOP'), ms).unref();
  },
  killPlatform: (campaign, chance) => campaign.restart('SIGKILL', chance.between(0, 2000), chance.fork()),
  stopPlatform: (campaign, chance) => campaign.restart('SIGTERM', chance.between(0, 2000), chance.fork()),
  movePlatform: async (campaign, chance) => {
    const signal = chance.integer(2) ? 'SIGKILL' : 'SIGTERM';
    await campaign.restart(signal, chance.between(0, 2000), chance.fork(), true);
  },
  fillDisk: async (campaign, chance) => campaign.fillDisk(chance.between(500, 15_000)),
  /** So that the workspace is usable again before the end. */
  giveUpStates: (campaign) => giveUpStates(campaign),
} satisfies Record<string, Performer>;

export const actions: Record<keyof typeof performers, Performer> = performers;

export const likelihoods: Record<keyof typeof performers, number> = {
  create: 30,
  confirm: 15,
  override: 8,
  cancel: 5,
  discard: 2,
  forceCancel: 2,
  stopExecution: 1,
  lock: 1,
  unlock: 3,
  estimates: 2,
  createEnvironment: 8,
  buildEnvironment: 8,
  cancelBuild: 2,
  push: 14,
  killRunner: 4,
  stopRunner: 2,
  freezeRunner: 3,
  killPlatform: 1.5,
  stopPlatform: 0.5,
  killRunnerAlone: 3,
  movePlatform: 1,
  fillDisk: 2,
  giveUpStates: 3,
};
