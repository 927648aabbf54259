import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun, type Resource, related, until } from '#clients/client/client.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { runners, send } from '#test/e2e/support/runners.ts';
import { type Figure, median, quantile, round, type Section } from './figures.ts';

const times = 5;
/** Longer than any wait here. */
const slow = `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "sleep 900"
  }
}
`;
const deathMs = 300_000;

const at = (run: Resource, status: string): number => Date.parse(run.attributes['status-timestamps'][`${status}-at`]);

/** A run in its apply, and a run that waits behind it. */
const twoRuns = async (client: Client, organization: string, name: string) => {
  const workspace = await client.createWorkspace(organization, name, { 'auto-apply': true });
  const version = await client.upload(workspace.id, await packFiles({ 'main.tf': slow }));
  const first = await client.createRun(workspace.id, {}, version.id);
  const next = await client.createRun(workspace.id, {}, version.id);
  await client.waitForRun(first.id, ({ attributes }) => attributes.status === 'applying');
  return { first, next };
};

/** Milliseconds until the end of the first run, and until the start of the next. */
const hurt = async (platform: PlatformProcess, name: string, signal: NodeJS.Signals) => {
  const { organization, token, url } = platform.local;
  const client = new Client(url, token);
  const { first, next } = await twoRuns(client, organization, name);
  const runner = await until(
    async () => runners(platform.dataDir).find(({ startedBy }) => startedBy === first.id),
    (value) => value !== undefined,
    10_000,
  );
  const from = Date.now();
  if (runner) send(runner, signal);
  const ended = await client.waitForRun(first.id, isFinalRun, deathMs);
  // A runner that could not report leaves the workspace locked until an admin decides.
  const workspace = `/workspaces/${related(first, 'workspace')}`;
  const { locked, 'locked-reason': reason } = (await client.get(workspace)).attributes;
  if (locked && /ended without its last state/.test(reason))
    await client.call('POST', `${workspace}/actions/force-unlock`);
  const started = await client.waitForRun(next.id, ({ attributes }) => attributes.status !== 'pending', deathMs);
  await client.act(next.id, 'cancel');
  return { ended: at(ended, ended.attributes.status) - from, started: at(started, 'plan-queued') - from };
};

export const runnerDeath: Section = {
  about: 'a runner is killed, or frozen, in an apply; another run waits behind it',
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const platform = await PlatformProcess.start();
    try {
      const killed: Awaited<ReturnType<typeof hurt>>[] = [];
      for (let n = 0; n < times; n++) killed.push(await hurt(platform, `killed-${n}`, 'SIGKILL'));
      const started = killed.map((one) => one.started / 1000);
      yield { name: `killed to next started, median of ${times}`, value: round(median(started), 1), unit: 's' };
      yield { name: 'longest', value: round(quantile(started, 1), 1), unit: 's', atMost: 60 };
      // Missed heartbeats, then the container's stop timeout, because it ignores the signal.
      const frozen = await hurt(platform, 'frozen', 'SIGSTOP');
      yield {
        name: 'frozen to next started',
        value: round(frozen.started / 1000, 1),
        unit: 's',
        atMost: 60 + 120 + 10,
      };
    } finally {
      await platform.remove();
    }
  },
};
