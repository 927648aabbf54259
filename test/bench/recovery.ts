import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, until } from '#clients/client/client.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { type Figure, round, type Section } from './figures.ts';

const workspaces = 100;
const runsEach = 10;
const atOnce = 8;
const patienceMs = 600_000;

/** As many in parallel as a platform really has. */
const each = async <T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> => {
  const left = [...items];
  const some = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, some));
};

export const recovery: Section = {
  about: `the platform is killed with ${workspaces * runsEach} unfinished runs in ${workspaces} workspaces, and started again`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const platform = await PlatformProcess.start();
    try {
      const client = new Client(platform.local.url, platform.local.token);
      const archive = await packFiles({ 'main.tf': '' });
      const runs: string[] = [];
      const names = Array.from({ length: workspaces }, (_, n) => `recovery-${n}`);
      await each(names, async (name) => {
        const workspace = await client.createWorkspace(platform.local.organization, name);
        const version = await client.upload(workspace.id, archive);
        // All of them wait in their queues, without a runner.
        await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, {});
        for (let n = 0; n < runsEach; n++) runs.push((await client.createRun(workspace.id, {}, version.id)).id);
      });
      const idle = await readyAfter(platform, 'SIGKILL');
      yield { name: 'killed, started again: ready after', value: round(idle, 1), unit: 's', atMost: 5 };

      const begun = Date.now();
      // Resumes each execution, which ends.
      await each(runs, (id) => client.act(id, 'cancel'));
      await each(runs, (id) => until(() => client.run(id), isFinalRun, patienceMs));
      yield {
        name: 'then every run can be canceled, which takes',
        value: round((Date.now() - begun) / 1000, 1),
        unit: 's',
      };
    } finally {
      await platform.remove();
    }
  },
};

const readyAfter = async (platform: PlatformProcess, signal: 'SIGKILL'): Promise<number> => {
  await platform.stop(signal);
  const begun = performance.now();
  await platform.start();
  return (performance.now() - begun) / 1000;
};
