import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource, until } from '#clients/client/client.ts';
import { type Figure, round, type Section } from './figures.ts';

const workspaces = Number(process.env.BENCH_WORKSPACES ?? 60);
const runsEach = 5;

export const drain: Section = {
  about: `${workspaces * runsEach} runs over ${workspaces} workspaces, created at once and drained`,
  needsPlatform: true,
  async *measure(platform): AsyncGenerator<Figure> {
    if (!platform) return;
    const client = new Client(platform.url, platform.token);
    const archive = await packFiles({ 'main.tf': 'resource "terraform_data" "a" { input = timestamp() }\n' });
    const prepared = await Promise.all(
      Array.from({ length: workspaces }, async (_, i) => {
        const workspace = await client.createWorkspace(platform.organization, `drain-${i}`, { 'auto-apply': true });
        return { workspace, version: await client.upload(workspace.id, archive) };
      }),
    );
    const begin = Date.now();
    const created = await Promise.all(
      prepared.map(async ({ workspace, version }) => {
        const runs: Resource[] = [];
        for (let i = 0; i < runsEach; i++) runs.push(await client.createRun(workspace.id, {}, version.id));
        return runs;
      }),
    );
    yield { name: 'created and queued in', value: round((Date.now() - begin) / 1000, 1), unit: 's' };
    let lost = 0;
    let disorder = 0;
    for (const runs of created) {
      const ended: Resource[] = [];
      for (const run of runs) ended.push(await until(() => client.run(run.id), isFinalRun, 1_200_000));
      lost += ended.filter(({ attributes }) => attributes.status !== 'applied').length;
      const starts = ended.map(({ attributes }) => attributes['status-timestamps']['plan-queued-at'] as string);
      const ends = ended.map(({ attributes }) => attributes['status-timestamps']['applied-at'] as string);
      // Each begins after the end of the previous one.
      disorder += starts.slice(1).filter((start, i) => start < (ends[i] as string)).length;
    }
    const minutes = (Date.now() - begin) / 60_000;
    yield { name: 'drained at', value: round((workspaces * runsEach) / minutes), unit: 'runs/min' };
    yield { name: 'not applied', value: lost, unit: 'runs', atMost: 0 };
    yield { name: 'started before the one in front had ended', value: disorder, unit: 'runs', atMost: 0 };
  },
};
