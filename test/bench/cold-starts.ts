import { GetExecutionHistoryCommand, SFNClient } from '@aws-sdk/client-sfn';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, until } from '#clients/client/client.ts';
import { synthesize } from '#infra/build/synth.ts';
import type { FunctionId } from '#infra/stack/functions.ts';
import type { Local } from '#test/e2e/support/platform.ts';
import { coldImportMs, importRounds } from './cold-import.ts';
import { type Figure, round, type Section, usageOf } from './figures.ts';

interface Way {
  /** Sequential, until the runner's container starts. */
  toRunner: string[];
  /** Responds to the runner's claim of the plan one container start later. */
  claim: string;
}

const claim = 'RunnerFunction';

/** Functions whose tasks were scheduled before the plan began, from the execution's history. */
const scheduled = async (platform: Local, runId: string): Promise<string[]> => {
  const executions = new SFNClient({
    endpoint: platform.awsEndpointUrl,
    region: 'us-east-1',
    credentials: platform.awsCredentials,
  });
  const executionArn = `${platform.stateMachineArn.replace(':stateMachine:', ':execution:')}:${runId}`;
  const { events = [] } = await executions.send(new GetExecutionHistoryCommand({ executionArn }));
  const planning = events.findIndex(({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name === 'Planning');
  return events
    .slice(0, planning < 0 ? undefined : planning)
    .flatMap(({ taskScheduledEventDetails }) => taskScheduledEventDetails?.parameters ?? [])
    .map((parameters) => (JSON.parse(parameters) as { FunctionName: string }).FunctionName)
    .map((name) => name.split(':').at(-1) as string);
};

const wayOfARun = async (platform: Local): Promise<Way> => {
  const client = new Client(platform.url, platform.token);
  const workspace = await client.createWorkspace(platform.organization, `cold-${Date.now()}`);
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': 'output "n" { value = 1 }\n' }));
  const { id } = await client.createRun(workspace.id, {}, version.id);
  // No polling of the run through the API meanwhile, because that would be counted as well.
  const functions = async () =>
    (await usageOf(platform, id)).calls.filter(({ service }) => service === 'lambda').map(({ action }) => action);
  const called = await until(functions, (names) => names.includes(claim), 120_000);
  const states = await scheduled(platform, id);
  const api = called.filter((name) => ![...states, claim, 'EnterStateFunction'].includes(name));
  return { toRunner: [...api, ...states], claim };
};

export const coldStarts: Section = {
  about: `functions that are cold after a quiet hour between POST /runs and the claim of the plan, and what each takes to load (median of ${importRounds})`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const { functions } = (await synthesize()).bundles;
    const way = await wayOfARun(platform);
    yield { name: 'cold in a row until the runner starts', value: way.toRunner.length, unit: '', atMost: 3 };
    yield { name: 'with the one that the runner claims its plan from', value: way.toRunner.length + 1, unit: '' };
    let plain = 0;
    let mapped = 0;
    for (const name of [...way.toRunner, way.claim]) {
      const { file } = functions[name.replace(/Function$/, '') as FunctionId];
      const ms = await coldImportMs(file);
      plain += ms;
      mapped += await coldImportMs(file, '--enable-source-maps');
      yield { name: `${name} import`, value: round(ms), unit: 'ms', atMost: 75 };
    }
    yield { name: 'import of all of them', value: round(plain), unit: 'ms' };
    yield { name: 'against the same with --enable-source-maps', value: round(plain / mapped, 2), unit: '×' };
  },
};
