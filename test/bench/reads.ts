import { packFiles } from '../../functions/cli/archive.ts';
import { Client, isFinalRun } from '../../functions/cli/client.ts';
import { type Figure, quantile, round, type Section } from './figures.ts';

const requests = 1_000;

export const reads: Section = {
  about: `latency of the API over ${requests} requests, one after another`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const workspace = await client.createWorkspace(platform.organization, 'reads');
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': 'output "n" { value = 1 }\n' }));
    const run = await client.createRun(workspace.id, { 'plan-only': true }, version.id);
    await client.waitForRun(run.id, isFinalRun);
    for (let i = 0; i < 20; i++) await client.createRun(workspace.id, { 'plan-only': false }, version.id);
    for (const [name, path] of [
      ['read of a run', `/runs/${run.id}`],
      ['list of 20 runs', `/workspaces/${workspace.id}/runs?page[size]=20`],
      ['read of a workspace by name', `/organizations/${platform.organization}/workspaces/reads`],
    ] as const) {
      const took: number[] = [];
      for (let i = 0; i < requests; i++) {
        const begin = performance.now();
        await client.call('GET', path);
        took.push(performance.now() - begin);
      }
      yield { name: `${name}, p50`, value: round(quantile(took, 0.5), 1), unit: 'ms' };
      yield { name: `${name}, p99`, value: round(quantile(took, 0.99), 1), unit: 'ms' };
    }
  },
};
