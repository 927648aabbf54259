import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#clients/client/client.ts';
import type { Local } from '#test/e2e/support/platform.ts';
import { type Figure, median, partsMs, round, type Section } from './figures.ts';

const resources = Number(process.env.BENCH_RESOURCES ?? 1000);
const pairs = Number(process.env.BENCH_PAIRS ?? 3);
/**
 * With `for_each` over as many keys, planning takes Terraform 1.11 itself a minute of processor time, for the keys and
 * not for the resources.
 */
const configuration = `resource "terraform_data" "it" {
  count = ${resources}
  input = "resource \${count.index}"
}
`;

/** Milliseconds of wall time, and of processor time. */
interface Took {
  plan: number;
  apply: number;
  processor: number;
}

const bare = async (): Promise<Took> => {
  const cwd = await mkdtemp(join(tmpdir(), 'stepform-bare-'));
  const env = { ...process.env, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' };
  let processor = 0;
  const terraform = (...args: string[]): number => {
    const begun = performance.now();
    const script = 'terraform "$@" >/dev/null && times';
    const { status, stdout } = spawnSync('/bin/sh', ['-c', script, 'sh', ...args], { cwd, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`terraform ${args[0]} ended with ${status}`);
    for (const [, minutes, seconds] of (stdout.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)) {
      processor += (Number(minutes) * 60 + Number(seconds)) * 1000;
    }
    return performance.now() - begun;
  };
  try {
    await writeFile(join(cwd, 'main.tf'), configuration);
    terraform('init', '-input=false');
    return {
      plan: terraform('plan', '-input=false', '-out=p'),
      apply: terraform('apply', '-input=false', 'p'),
      processor,
    };
  } finally {
    await rm(cwd, { recursive: true });
  }
};

/** Processor time of the platform and everything that it has started, in ms. */
const allProcessorMs = async (pid: number): Promise<number> => {
  const { platform, runners, commands } = await partsMs(pid);
  return platform + runners + commands;
};

const run = async (platform: Local, n: number): Promise<Took> => {
  const client = new Client(platform.url, platform.token);
  const workspace = await client.createWorkspace(platform.organization, `large-${n}`, { 'auto-apply': true });
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': configuration }));
  const before = await allProcessorMs(platform.pid);
  const { id } = await client.createRun(workspace.id, {}, version.id);
  const { attributes } = await client.waitForRun(id, isFinalRun, 1_200_000);
  if (attributes.status !== 'applied') throw new Error(`the run ended as ${attributes.status}`);
  const at = attributes['status-timestamps'] as Record<string, string>;
  const between = (from: string, to: string) => Date.parse(at[to] ?? '') - Date.parse(at[from] ?? '');
  // Waits for the runner, because its work after the report belongs to the run.
  for (let last = -1, now = 0; last !== now; last = now) {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    now = Math.round((await allProcessorMs(platform.pid)) / 1000);
  }
  return {
    plan: between('plan-queued-at', 'planned-at'),
    apply: between('apply-queued-at', 'applied-at'),
    processor: (await allProcessorMs(platform.pid)) - before,
  };
};

export const large: Section = {
  about: `plan and apply of ${resources} terraform_data, against bare terraform, in turn`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const took: { bare: Took; run: Took }[] = [];
    for (let n = 0; n < pairs; n++) took.push({ bare: await bare(), run: await run(platform, n) });
    const ratio = (what: keyof Took) => round(median(took.map((pair) => pair.run[what] / pair.bare[what])), 2);
    for (const what of ['plan', 'apply', 'processor'] as const) {
      const name = what === 'processor' ? 'processor time of init, plan and apply' : what;
      yield {
        name: `bare ${name}, median of ${pairs}`,
        value: round(median(took.map((pair) => pair.bare[what]))),
        unit: 'ms',
      };
      yield { name, value: round(median(took.map((pair) => pair.run[what]))), unit: 'ms' };
    }
    yield { name: 'plan, median of ratios', value: ratio('plan'), unit: '×', atMost: 1.6 };
    yield { name: 'apply, median of ratios', value: ratio('apply'), unit: '×', atMost: 1.15 };
    yield { name: 'processor time, median of ratios', value: ratio('processor'), unit: '×', atMost: 1.2 };
  },
};
