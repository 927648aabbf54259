import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, until } from '#clients/client/client.ts';
import { runBudget } from './budget.ts';
import { endedMs, type Figure, median, type Parts, partsMs, round, type Section, usageOf } from './figures.ts';

const run = promisify(execFile);
const rounds = 9;
const configuration = `resource "terraform_data" "a" { input = "a" }
resource "terraform_data" "b" { input = terraform_data.a.output }
output "b" { value = terraform_data.b.output }
`;

/** A client's own requests are counted here too. */
const budget: Record<string, number> = runBudget;

/**
 * init, plan and apply of the configuration in an empty folder, as a user would run them. The processor time includes
 * the plan as JSON, which a run needs too.
 */
const bare = async (): Promise<{ ms: number; processor: number }> => {
  const folder = await mkdtemp(join(tmpdir(), 'stepform-bare-'));
  await writeFile(join(folder, 'main.tf'), configuration);
  const env = { ...process.env, TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1' };
  const before = await endedMs(process.pid);
  let ms = 0;
  for (const args of [['init'], ['plan', '-out=plan'], ['show', '-json', 'plan'], ['apply', 'plan']]) {
    const begin = performance.now();
    await run('terraform', args, { cwd: folder, env });
    if (args[0] !== 'show') ms += performance.now() - begin;
  }
  await rm(folder, { recursive: true });
  return { ms, processor: (await endedMs(process.pid)) - before };
};

export const overhead: Section = {
  about:
    'an auto-applied run against bare terraform init, plan, apply of the same configuration, in turn; and what a run uses',
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const archive = await packFiles({ 'main.tf': configuration });
    const whole = async () => {
      const workspace = await client.createWorkspace(platform.organization, `bench-${Date.now()}`, {
        'auto-apply': true,
      });
      const version = await client.upload(workspace.id, archive);
      const begin = Date.now();
      const created = await client.createRun(workspace.id, {}, version.id);
      // Durations come from the run's own timestamps; constant polling would slow down the measured run.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const ended = await client.waitForRun(created.id, isFinalRun);
      if (ended.attributes.status !== 'applied') throw new Error(`the run ended ${ended.attributes.status}`);
      return { ms: Date.parse(ended.attributes['status-timestamps']['applied-at'] ?? '') - begin, id: created.id };
    };
    await bare();
    await whole();
    const bares: number[] = [];
    const wholes: number[] = [];
    let last = '';
    const used: Parts = { platform: 0, runners: 0, commands: 0 };
    let bareProcessor = 0;
    for (let i = 0; i < rounds; i++) {
      const alone = await bare();
      bares.push(alone.ms);
      bareProcessor += alone.processor;
      const before = await partsMs(platform.pid);
      const { ms, id } = await whole();
      const after = await partsMs(platform.pid);
      for (const part of ['platform', 'runners', 'commands'] as const) used[part] += after[part] - before[part];
      wholes.push(ms);
      last = id;
    }
    yield { name: `bare terraform, median of ${rounds}`, value: round(median(bares)), unit: 'ms' };
    yield { name: `auto-applied run, median of ${rounds}`, value: round(median(wholes)), unit: 'ms' };
    yield {
      name: 'overhead, median of pairs',
      value: round(median(wholes.map((ms, i) => ms - (bares[i] as number)))),
      unit: 'ms',
      atMost: 500,
    };
    // Less noisy than a duration on a machine with other work. It has 10 ms steps, and includes the client's requests.
    for (const [name, ms] of [
      ['bare init, plan, show, apply', bareProcessor],
      ['the platform', used.platform],
      ['the runner', used.runners],
      ['Terraform, and the programs around it', used.commands],
    ] as const)
      yield { name: `per run: processor time of ${name}, mean of ${rounds}`, value: round(ms / rounds), unit: 'ms' };
    const everything = used.platform + used.runners + used.commands;
    yield {
      name: 'per run: processor time against bare init, plan, show, apply',
      value: round(everything / bareProcessor, 2),
      unit: '×',
      atMost: 1.6,
    };
    // Costs are complete only when the runner of the last run has exited.
    const { totals, price } = await until(
      () => usageOf(platform, last),
      (usage) => (usage.totals.fargateVcpuHours ?? 0) > 0,
      30_000,
    );
    for (const [name, value] of Object.entries(totals))
      yield { name: `per run: ${name}`, value: round(value, 5), unit: '', atMost: budget[name] };
    const units = (totals.readUnits ?? 0) + (totals.writeUnits ?? 0);
    yield { name: 'per run: request units of the table', value: units, unit: '', atMost: budget.requestUnits };
    yield {
      name: 'per run: AWS list price without Fargate',
      value: round(price.usdWithoutFargate, 6),
      unit: 'USD',
      atMost: 0.0015,
    };
  },
};
