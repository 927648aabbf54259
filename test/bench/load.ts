import { setTimeout as sleep } from 'node:timers/promises';
import { packFiles } from '#clients/cli/archive.ts';
import { Client } from '#clients/client/client.ts';
import { type Figure, memoryMb, processorMs, quantile, round, type Section } from './figures.ts';

const runs = Number(process.env.BENCH_RUNS ?? 2_000);
const workspaces = Number(process.env.BENCH_WORKSPACES ?? 200);
const clients = 16;
/** After its start a process still returns memory to the system. */
const settleMs = 10_000;

export const load: Section = {
  about: `${clients} clients create ${runs} runs over ${workspaces} workspaces, while one reads a run every 20 ms`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    await sleep(settleMs);
    yield { name: 'memory of the idle platform', value: await memoryMb(platform.pid), unit: 'MB', atMost: 120 };
    const client = new Client(platform.url, platform.token);
    const archive = await packFiles({ 'main.tf': 'output "n" { value = 1 }\n' });
    const prepared: { workspace: string; version: string }[] = [];
    for (let n = 0; n < workspaces; n++) {
      const { id } = await client.createWorkspace(platform.organization, `load-${n}`);
      prepared.push({ workspace: id, version: (await client.upload(id, archive)).id });
    }
    const before = (await processorMs(platform.pid)) ?? 0;
    const began = performance.now();
    const took: number[] = [];
    const reads: number[] = [];
    let last: string | undefined;
    let started = 0;
    const timed = async <T>(times: number[], act: () => Promise<T>): Promise<T> => {
      const begin = performance.now();
      const result = await act();
      times.push(performance.now() - begin);
      return result;
    };
    const create = async () => {
      while (started < runs) {
        const { workspace, version } = prepared[started++ % workspaces] as (typeof prepared)[number];
        last = (await timed(took, () => client.createRun(workspace, {}, version))).id;
      }
    };
    const isOver = () => took.length === runs;
    const read = async () => {
      for (; !isOver(); await sleep(20)) if (last) await timed(reads, () => client.run(last as string));
    };
    await Promise.all([read(), ...Array.from({ length: clients }, create)]);
    const seconds = (performance.now() - began) / 1000;
    const processor = ((await processorMs(platform.pid)) ?? 0) - before;
    yield { name: 'POST /runs', value: round(runs / seconds), unit: 'per s', atLeast: 300 };
    yield { name: 'POST /runs, p99', value: round(quantile(took, 0.99)), unit: 'ms' };
    // Includes the start of the first runs; less noisy than a rate on a machine with other work.
    yield { name: 'processor time of the platform for each', value: round(processor / runs, 2), unit: 'ms' };
    yield { name: 'read of a run meanwhile, p50', value: round(quantile(reads, 0.5), 1), unit: 'ms' };
    yield { name: 'read of a run meanwhile, p99', value: round(quantile(reads, 0.99), 1), unit: 'ms', atMost: 50 };
    yield { name: `memory after ${runs} runs`, value: await memoryMb(platform.pid), unit: 'MB', atMost: 250 };
  },
};
