import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StateKeeper } from '#runner/program/state.ts';
import { ControlPlane } from '#test/runner/program/control-plane.ts';
import { type Figure, median, quantile, round, type Section } from './figures.ts';
import { keeperOf } from './kept-state.ts';

const pairs = 5;
const resources = 500;
const configuration = `resource "terraform_data" "it" {
  count = ${resources}
  input = "resource \${count.index}: ${'x'.repeat(400)}"
  provisioner "local-exec" {
    command = "sleep 0.1"
  }
}
`;

/** Milliseconds: wall time, and processor time. */
interface Took {
  wall: number;
  processor: number;
  /** Of that: this process, with the runner's code and a test double of the control plane. */
  own: number;
}

/** The shell prints user and system time of its descendants: `0m1.23s 0m0.45s` (POSIX: times). */
const processorOf = (times: string): number =>
  [...(times.trim().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)]
    .map(([, minutes, seconds]) => (Number(minutes) * 60 + Number(seconds)) * 1000)
    .reduce((sum, ms) => sum + ms, 0);

const terraform = (cwd: string, ...args: string[]): Promise<Omit<Took, 'own'>> =>
  new Promise((resolve, reject) => {
    const begun = performance.now();
    const env = { ...process.env, TF_IN_AUTOMATION: '1', TF_INPUT: '0', CHECKPOINT_DISABLE: '1' };
    const script = 'terraform "$@" >/dev/null 2>&1 || exit; times';
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...args], { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (bytes) => {
      output += bytes;
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0
        ? resolve({ wall: performance.now() - begun, processor: processorOf(output) })
        : reject(new Error(`terraform ${args[0]} ended with ${code}`)),
    );
  });

/** Applies the planned configuration to an empty state. */
const apply = async (folder: string, keeper?: StateKeeper): Promise<Took> => {
  await rm(join(folder, 'terraform.tfstate'), { force: true });
  const before = process.cpuUsage();
  await keeper?.watch();
  const { wall, processor } = await terraform(folder, 'apply', '-lock=false', 'plan');
  await keeper?.finish();
  const { user, system } = process.cpuUsage(before);
  const own = (user + system) / 1000;
  return { wall, processor: processor + own, own };
};

/** The same with snapshots, and when each was taken (its first call) and stored (its last), in ms. */
const applyWatched = async (folder: string) => {
  const plane = await ControlPlane.start();
  const taken: number[] = [];
  const safe: number[] = [];
  plane.fault = (path) => {
    if (path.endsWith('/state-versions')) taken.push(Date.now());
    if (path.endsWith('/complete')) safe.push(Date.now());
    return undefined;
  };
  try {
    const took = await apply(folder, keeperOf(plane, folder));
    if (plane.violations.length) throw new Error(plane.violations.join('; '));
    return { took, taken, safe };
  } finally {
    await plane.stop();
  }
};

/** State written right after a snapshot waits for the next snapshot. */
const lags = ({ taken, safe }: { taken: number[]; safe: number[] }): number[] =>
  safe.slice(1).map((at, i) => at - (taken[i] as number));

export const snapshots: Section = {
  about: `an apply of ${resources} resources whose state is uploaded while it runs, against bare terraform, in turn`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const folder = await mkdtemp(join(tmpdir(), 'stepform-snapshots-'));
    try {
      await writeFile(join(folder, 'main.tf'), configuration);
      await terraform(folder, 'init');
      await terraform(folder, 'plan', '-out=plan');
      const bare: Took[] = [];
      const watched: Awaited<ReturnType<typeof applyWatched>>[] = [];
      for (let i = 0; i < pairs; i++) {
        bare.push(await apply(folder));
        watched.push(await applyWatched(folder));
      }
      const more = (what: keyof Took) =>
        round(median(watched.map(({ took }, i) => (took[what] / (bare[i] as Took)[what] - 1) * 100)), 1);
      for (const what of ['wall', 'processor'] as const) {
        const name = what === 'wall' ? 'time' : 'processor time';
        yield {
          name: `bare apply, ${name}, median of ${pairs}`,
          value: round(median(bare.map((t) => t[what]))),
          unit: 'ms',
        };
        yield {
          name: `with snapshots, ${name}`,
          value: round(median(watched.map(({ took }) => took[what]))),
          unit: 'ms',
        };
      }
      yield { name: 'slower by, median of pairs', value: more('wall'), unit: '%', atMost: 3 };
      const parts = watched.map(({ took }) => (took.own / took.processor) * 100);
      yield { name: 'the runner’s part of processor time', value: round(median(parts), 1), unit: '%', atMost: 3 };
      yield { name: 'more processor time, median of pairs', value: more('processor'), unit: '%', atMost: 3 };
      yield { name: 'snapshots of an apply', value: median(watched.map(({ safe }) => safe.length)), unit: '' };
      const all = watched.flatMap(lags);
      yield { name: 'longest from written to safe', value: round(quantile(all, 1)), unit: 'ms', atMost: 2000 };
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
