import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  DescribeExecutionCommand,
  GetExecutionHistoryCommand,
  RedriveExecutionCommand,
  SFNClient,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, describe, expect, it } from 'vitest';
import { attach, isSilent, newTask } from './support/run-tasks.ts';
import { newSharedFolder } from './support/shared-folder.ts';
import { until } from './support/waiting.ts';
import {
  client,
  newWorkspace,
  platform,
  type Resource,
  reasonOf,
  resources,
  startRun,
  untilConfirmable,
  untilFinal,
  untilStatus,
} from './support/world.ts';

/** Operator actions in the console of Step Functions, and their effects on the run. */

const sfn = new SFNClient({
  endpoint: platform.awsEndpointUrl,
  region: 'us-east-1',
  credentials: platform.awsCredentials,
});
const folder = newSharedFolder('console-');
afterAll(() => {
  sfn.destroy();
  rmSync(folder, { recursive: true, force: true });
});

const executionArn = ({ id }: Resource): string =>
  `${platform.stateMachineArn?.replace(':stateMachine:', ':execution:')}:${id}`;
const stop = (run: Resource, cause?: string) =>
  sfn.send(new StopExecutionCommand({ executionArn: executionArn(run), ...(cause ? { cause } : {}) }));
const isRedriven = async (run: Resource): Promise<boolean> =>
  (await sfn.send(new DescribeExecutionCommand({ executionArn: executionArn(run) }))).status === 'SUCCEEDED';

const files = { 'main.tf': resources(['a']) };
/** A resource that adds a line to the ledger when its creation begins, and then takes a while. */
const noted = (ledger: string) => `resource "terraform_data" "noted" {
  provisioner "local-exec" {
    command = "echo made >> ${ledger}; sleep 600"
  }
}`;

interface Scene {
  workspace: Resource;
  run: Resource;
}

const states: Record<string, () => Promise<Scene>> = {
  Fetching: async () => {
    const workspace = await newWorkspace();
    const version = await client.create(
      `/workspaces/${workspace.id}/configuration-versions`,
      'configuration-versions',
      {
        'auto-queue-runs': false,
      },
    );
    const run = await client.createRun(workspace.id, {}, version.id);
    return { workspace, run: await untilStatus(run, 'fetching') };
  },
  PrePlanTasks: async () => {
    const workspace = await newWorkspace();
    const { task } = await newTask(isSilent);
    await attach(workspace, task, ['pre_plan'], 'advisory');
    const run = await untilStatus(await startRun(workspace, files), 'pre_plan_running');
    for (const { id } of await client.list(`/workspaces/${workspace.id}/tasks`)) {
      await client.call('DELETE', `/workspaces/${workspace.id}/tasks/${id}`);
    }
    return { workspace, run };
  },
  NeedsConfirmation: async () => {
    const workspace = await newWorkspace();
    return { workspace, run: await untilConfirmable(await startRun(workspace, files)) };
  },
};

describe.skipIf(!platform.awsEndpointUrl).concurrent('an execution that is stopped', () => {
  it.each(Object.keys(states))('in %s ends its run with the reason, and the next run starts', async (state) => {
    const { workspace, run } = await (states[state] as () => Promise<Scene>)();
    const next = await startRun(workspace, files);
    expect((await client.run(next.id)).attributes.status).toBe('pending');
    await stop(run, 'moving house');
    const ended = await untilFinal(run);
    expect([ended.attributes.status, reasonOf(ended)]).toEqual([
      'errored',
      expect.stringMatching(/was stopped by an operator.*moving house/),
    ]);
    expect((await untilConfirmable(next)).attributes.status).toBe('planned');
    // A redrive finds the run ended.
    await sfn.send(new RedriveExecutionCommand({ executionArn: executionArn(run) }));
    await until(() => isRedriven(run), Boolean);
    expect((await client.run(run.id)).attributes.status).toBe('errored');
    expect((await client.run(next.id)).attributes.actions['is-confirmable']).toBe(true);
  });

  it('while its run is queued does not affect the current run', async () => {
    const { workspace, run: front } = await (states.NeedsConfirmation as () => Promise<Scene>)();
    const waiting = await startRun(workspace, files);
    await stop(waiting);
    const ended = await untilFinal(waiting);
    expect([ended.attributes.status, reasonOf(ended)]).toEqual([
      'errored',
      expect.stringContaining('was stopped by an operator.'),
    ]);
    await client.act(front.id, 'apply');
    expect((await untilFinal(front)).attributes.status).toBe('applied');
  });

  it('in Applying interrupts terraform, and a redrive does not apply again', async () => {
    const ledger = join(folder, 'ledger');
    const createdCount = () => readFileSync(ledger, 'utf8').split('\n').filter(Boolean).length;
    const workspace = await newWorkspace({ 'auto-apply': true });
    const run = await untilStatus(await startRun(workspace, { 'main.tf': noted(ledger) }), 'applying');
    await until(async () => existsSync(ledger), Boolean);
    const next = await startRun(workspace, { 'main.tf': '' }, { 'plan-only': false });
    await stop(run, 'too long');
    const ended = await untilFinal(run);
    expect([ended.attributes.status, reasonOf(ended)]).toEqual(['errored', expect.stringContaining('too long')]);
    await sfn.send(new RedriveExecutionCommand({ executionArn: executionArn(run) }));
    await until(() => isRedriven(run), Boolean);
    await untilFinal(next);
    expect(createdCount()).toBe(1);
  });
});

it.skipIf(!platform.awsEndpointUrl)('an execution shows what it waits for, and no secrets', async () => {
  const workspace = await newWorkspace();
  await client.setVariable(workspace.id, { key: 'canary', value: 'tweet-tweet-tweet', sensitive: true });
  const { server, task } = await newTask(isSilent, { 'hmac-key': 'canary-of-the-task' });
  await attach(workspace, task, ['pre_plan']);
  const run = await untilStatus(
    await startRun(workspace, { 'main.tf': 'variable "canary" { sensitive = true }' }),
    'pre_plan_running',
  );
  const { payload } = await server.request(2);
  const { events = [] } = await sfn.send(
    new GetExecutionHistoryCommand({ executionArn: executionArn(run), includeExecutionData: true }),
  );
  const entered = events.map(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name).filter(Boolean);
  expect(entered).toEqual(['AfterCreation', 'Pending', 'AfterPending', 'PrePlanTasks', 'PrePlanTask']);
  const text = JSON.stringify(events);
  for (const secret of ['tweet-tweet-tweet', 'canary-of-the-task', payload.access_token, 'canary']) {
    expect(text).not.toContain(secret);
  }
  await client.act(run.id, 'cancel');
  expect((await untilFinal(run)).attributes.status).toBe('canceled');
});
