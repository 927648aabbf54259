import { setTimeout as sleep } from 'node:timers/promises';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import type { Step } from '#infra/local/aws/lambda/usage.ts';
import type { CountedRule, FaultRule } from '#infra/local/host/faults.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import type { Local } from '#test/e2e/support/platform.ts';
import { measuredRun, unitsOf } from './budget.ts';
import { type Figure, quantile, round, type Section } from './figures.ts';
import { writeHistory } from './history.ts';

const workspaces = Number(process.env.BENCH_WORKSPACES ?? 20);
const runsEach = 2;
/** AWS's quotas are scaled to this share, because this machine has about that share of AWS's speed. */
const share = Number(process.env.BENCH_SHARE ?? 0.05);
const readers = 20;
/** Runs in the table for the comparison of costs; 1,000,000 take half an hour to write. */
const stored = Number(process.env.BENCH_STORED ?? 10_000);

/**
 * AWS's default quotas per second (DynamoDB: partitions; ECS: RunTask on Fargate; Step Functions: API throttling;
 * Lambda).
 */
const quotas: FaultRule[] = [
  { kind: 'limit', service: 'dynamodb', units: 'writeUnits', perSecond: 1000 },
  { kind: 'limit', service: 'dynamodb', units: 'readUnits', perSecond: 3000 },
  { kind: 'limit', service: 'ecs', action: 'RunTask', perSecond: 20, error: 'ThrottlingException' },
  { kind: 'limit', service: 'states', action: 'StartExecution', perSecond: 300 },
  { kind: 'limit', service: 'states', action: 'SendTaskSuccess', perSecond: 500 },
  { kind: 'limit', service: 'lambda-api', perSecond: 1000 },
];

const limited = (): FaultRule[] => quotas.map((rule) => ({ ...rule, perSecond: (rule.perSecond ?? 1) * share }));

const setFaults = async (platform: Local, rules: FaultRule[]): Promise<void> => {
  const answer = await operatorFetch(platform, '/_faults', { method: 'PUT', body: JSON.stringify(rules) });
  if (!answer.ok) throw new Error(await answer.text());
};

/** Requests of a client that retries after a second on any 5xx or 429. */
class Load {
  readonly took: number[] = [];
  failures = 0;
  slowedDown = 0;
  readonly #platform: Local;

  constructor(platform: Local) {
    this.#platform = platform;
  }

  async call(method: string, path: string, body?: object): Promise<Resource> {
    const { url, token } = this.#platform;
    for (;;) {
      const begun = performance.now();
      const answer = await fetch(`${url}/api/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
        body: body && JSON.stringify(body),
      });
      this.took.push(performance.now() - begun);
      if (answer.ok) return ((await answer.json()) as { data: Resource }).data;
      if (answer.status < 500 && answer.status !== 429)
        throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      if (answer.status === 429) this.slowedDown++;
      else this.failures++;
      await sleep(1000);
    }
  }
}

const prepare = async (platform: Local) => {
  const client = new Client(platform.url, platform.token);
  const archive = await packFiles({ 'main.tf': 'resource "terraform_data" "a" { input = timestamp() }\n' });
  const prepared: { workspace: string; version: string }[] = [];
  for (let n = 0; n < workspaces; n++) {
    const { id } = await client.createWorkspace(platform.organization, `scale-${n}`, { 'auto-apply': true });
    prepared.push({ workspace: id, version: (await client.upload(id, archive)).id });
  }
  return Array.from({ length: runsEach }, () => prepared).flat();
};

const createRun = (load: Load, { workspace, version }: { workspace: string; version: string }) =>
  load.call('POST', '/runs', {
    data: {
      type: 'runs',
      attributes: {},
      relationships: {
        workspace: { data: { type: 'workspaces', id: workspace } },
        'configuration-version': { data: { type: 'configuration-versions', id: version } },
      },
    },
  });

/** Reads all runs in turn, each reader every two seconds, until every run has ended. */
const watch = async (load: Load, ids: string[]): Promise<Map<string, string>> => {
  const ended = new Map<string, string>();
  const end = Date.now() + 900_000;
  const reader = async (offset: number) => {
    for (let n = offset; ended.size < ids.length && Date.now() < end; n++) {
      const id = ids[n % ids.length] as string;
      if (ended.has(id)) continue;
      const run = await load.call('GET', `/runs/${id}`);
      if (isFinalRun(run)) ended.set(id, run.attributes.status as string);
      await sleep(2000);
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, n) => reader(n)));
  return ended;
};

/** DynamoDB: units a second of one partition. */
const ofPartition = { writeUnits: 1000, readUnits: 3000 };

/** Partitions that runs of one organization share; all others belong to one run or workspace. */
const shared = ['ORG', 'PROJECT', 'USER', 'TOKEN', 'DRAIN'];

/** Units of a run in each shared partition; a batch names each key once. */
const unitsByPartition = (steps: Step[], kind: 'readUnits' | 'writeUnits'): Map<string, number> => {
  const sums = new Map<string, number>();
  for (const { service, subject = '', units } of steps) {
    if (service !== 'dynamodb' || !units[kind]) continue;
    const inBatch = [...subject.matchAll(/"pk":\{"S":"([A-Z]+)/g)].map(([, name]) => name as string);
    const names = inBatch.length > 0 ? inBatch : [/^[A-Z]+/.exec(subject)?.[0] ?? ''];
    for (const name of names) sums.set(name, (sums.get(name) ?? 0) + units[kind] / names.length);
  }
  return sums;
};

async function* hotPartitions(steps: Step[]): AsyncGenerator<Figure> {
  for (const kind of ['writeUnits', 'readUnits'] as const) {
    for (const [name, units] of unitsByPartition(steps, kind)) {
      if (!shared.includes(name)) continue;
      const perSecond = round(ofPartition[kind] / units);
      yield { name: `${kind} of a run in ${name}: enough for`, value: perSecond, unit: 'runs/s', atLeast: 300 };
    }
  }
}

const sumOf = (steps: Step[]): number => steps.reduce((sum, step) => sum + unitsOf(step), 0);

export const scale: Section = {
  about: `${workspaces * runsEach} runs at once with ${share * 100} % of AWS's quotas, and ${readers} readers`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    await measuredRun(platform, 'scale-first');
    const { steps } = await measuredRun(platform, 'scale-before');
    yield* hotPartitions(steps);
    await writeHistory(platform, { runs: stored, workspaces: 20, open: 100 });
    const later = await measuredRun(platform, 'scale-after');
    const ratio = round(sumOf(later.steps) / sumOf(steps), 2);
    yield { name: `units of a run with ${stored} runs stored; ratio`, value: ratio, unit: '', atMost: 1.1 };
    const wanted = await prepare(platform);
    await setFaults(platform, limited());
    const load = new Load(platform);
    const begun = Date.now();
    const created = await Promise.all(wanted.map((one) => createRun(load, one)));
    yield { name: 'created and queued in', value: round((Date.now() - begun) / 1000, 1), unit: 's' };
    const ended = await watch(load, [...new Set(created.map(({ id }) => id))]);
    yield { name: 'drained in', value: round((Date.now() - begun) / 1000, 1), unit: 's' };
    const rules = (await (await operatorFetch(platform, '/_faults')).json()) as CountedRule[];
    await setFaults(platform, []);
    for (const { service, action, units, seen, injected } of rules) {
      yield {
        name: `refused by ${service}: ${units ?? action ?? 'calls'}, of ${seen}`,
        value: injected,
        unit: 'calls',
      };
    }
    const applied = [...ended.values()].filter((status) => status === 'applied').length;
    yield { name: 'runs lost, or not applied', value: wanted.length - applied, unit: 'runs', atMost: 0 };
    yield { name: 'answers 429', value: load.slowedDown, unit: '' };
    const failed = round((load.failures / load.took.length) * 100, 1);
    yield { name: `answers 5xx, of ${load.took.length}`, value: failed, unit: '%', atMost: 1 };
    yield { name: 'answers, p99', value: round(quantile(load.took, 0.99)), unit: 'ms' };
  },
};
