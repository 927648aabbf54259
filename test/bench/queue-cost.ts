import { setTimeout as delay } from 'node:timers/promises';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import type { Local } from '#test/e2e/support/platform.ts';
import { type Figure, round, type Section, usageOf } from './figures.ts';

const configuration = 'output "n" { value = 1 }\n';
const atOnce = 16;

/**
 * Waits for the end of a run through Step Functions, like an operator: requests to the API would count for the run,
 * more of them the longer it takes.
 */
const ended = async (platform: Local, runId: string): Promise<void> => {
  const executions = new SFNClient({
    endpoint: platform.awsEndpointUrl,
    region: 'us-east-1',
    credentials: platform.awsCredentials,
  });
  const executionArn = `${platform.stateMachineArn.replace(':stateMachine:', ':execution:')}:${runId}`;
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    const { status } = await executions.send(new DescribeExecutionCommand({ executionArn }));
    if (status !== 'RUNNING') return;
    await delay(100);
  }
  throw new Error(`${runId} has not ended after two minutes`);
};

/** Units of a run that is created before, started and finished with `waiting` runs behind it. */
const unitsWith = async (platform: Local, waiting: number) => {
  const client = new Client(platform.url, platform.token);
  const workspace = await client.createWorkspace(platform.organization, `queue-${waiting}`);
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
  const confirmable = (run: Resource) => run.attributes.actions['is-confirmable'] || isFinalRun(run);
  const first = await client.createRun(workspace.id, {}, version.id);
  await client.waitForRun(first.id, confirmable);
  const measured = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
  let left = waiting;
  const create = async () => {
    while (left-- > 0) await client.createRun(workspace.id, {}, version.id);
  };
  await Promise.all(Array.from({ length: atOnce }, create));
  await client.act(first.id, 'discard');
  await ended(platform, measured.id);
  // Wait for the start of the next run, which belongs to the measured run's costs.
  const page = await client.list(`/workspaces/${workspace.id}/runs?page[size]=1`);
  if (page.length !== 1) throw new Error('the list of runs is empty');
  const { totals } = await usageOf(platform, measured.id);
  return totals;
};

export const queueCost: Section = {
  about: 'what a run uses with 10 and with 10,000 runs waiting behind it',
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const many = Number(process.env.BENCH_QUEUE ?? 10_000);
    const few = await unitsWith(platform, 10);
    const begin = Date.now();
    const lots = await unitsWith(platform, many);
    yield {
      name: `runs created and queued per second (${many})`,
      value: round(many / ((Date.now() - begin) / 1000)),
      unit: '/s',
    };
    for (const unit of ['readUnits', 'writeUnits', 'transitions', 'lambdaRequests'] as const) {
      const [a, b] = [few[unit] ?? 0, lots[unit] ?? 0];
      yield {
        name: `${unit}: ${round(a, 1)} with 10, ${round(b, 1)} with ${many}; ratio`,
        value: round(b / a, 3),
        unit: '',
        atMost: 1.05,
      };
    }
  },
};
