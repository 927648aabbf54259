import { Client } from '#clients/client/client.ts';
import { type Figure, processorMs, quantile, round, type Section } from './figures.ts';
import { writeHistory } from './history.ts';

const requests = 1_000;
const history = { runs: Number(process.env.BENCH_RUNS ?? 10_000), workspaces: 20, open: 100 };
const more = 1_000;

/** Latencies of one path in ms, sequential requests. */
const measure = async (client: Client, path: string, times: number): Promise<number[]> => {
  const took: number[] = [];
  for (let i = 0; i < times; i++) {
    const begin = performance.now();
    await client.call('GET', path);
    took.push(performance.now() - begin);
  }
  return took;
};

const targets = { run: 15, list: 30, changes: 10 };

export const reads: Section = {
  about: `latency of the API over ${requests} requests, one after another; ${history.runs} runs, ${history.workspaces + more} workspaces`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const begin = Date.now();
    const { workspaces, run } = await writeHistory(platform, history);
    for (let i = 0; i < more; i += 10) {
      const names = Array.from({ length: 10 }, (_, j) => `other-${String(i + j).padStart(4, '0')}`);
      await Promise.all(names.map((name) => client.createWorkspace(platform.organization, name)));
    }
    yield { name: 'history written in', value: round((Date.now() - begin) / 1000), unit: 's' };
    const organization = `/organizations/${platform.organization}`;
    const all = `${organization}/workspaces?page[size]=20`;
    for (const [name, path, target] of [
      ['read of a run', `/runs/${run}`, targets.run],
      ['list of 20 runs of a workspace', `/workspaces/${workspaces[0]?.id}/runs?page[size]=20`, targets.list],
      ['list of 20 runs of the organization', `${organization}/runs?page[size]=20`, targets.list],
      ['its page 10', `${organization}/runs?page[size]=20&page[number]=10`, targets.list],
      [`run queue, ${history.open} runs`, `${organization}/runs/queue`, undefined],
      ['read of a workspace by name', `${organization}/workspaces/service-1`, targets.run],
      ['list of 20 workspaces', all, targets.list],
      ['its page 40', `${all}&page[number]=40`, targets.list],
      ['with search[name]', `${all}&search[name]=service`, targets.list],
      ['with search[wildcard-name]', `${all}&search[wildcard-name]=other-05*`, targets.list],
      ['by latest change, with current runs', `${all}&sort=-latest-change-at&include=current_run`, targets.changes],
    ] as const) {
      const before = await processorMs(platform.pid);
      const took = await measure(client, path, requests);
      const after = await processorMs(platform.pid);
      yield { name: `${name}, p50`, value: round(quantile(took, 0.5), 1), unit: 'ms' };
      yield { name: `${name}, p99`, value: round(quantile(took, 0.99), 1), unit: 'ms', atMost: target };
      if (before !== undefined && after !== undefined)
        yield { name: `${name}, processor time`, value: round((after - before) / requests, 2), unit: 'ms' };
    }
  },
};
