import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type Resource, related, until } from '#clients/client/client.ts';
import { type Local, PlatformProcess } from '#test/e2e/support/platform.ts';
import { archive } from '#test/support/policies.ts';
import { type ForgeServer, startForge } from '#test/version-control/support/forge-server.ts';
import { type Figure, quantile, round, type Section } from './figures.ts';

const followers = Number(process.env.BENCH_FOLLOWERS ?? 500);
const pushes = 30;
const plans = 5;
const identifier = 'acme/infra';
const sha = (n: number): string => n.toString(16).padStart(40, 'a');

/** A repository on a server that responds like GitHub. */
class Remote {
  secret = '';
  head = 0;
  readonly forge: ForgeServer;

  constructor(forge: ForgeServer, tarball: Buffer) {
    this.forge = forge;
    const base = `/repos/${identifier}`;
    const facts = { full_name: identifier, default_branch: 'main', permissions: { admin: true } };
    forge.on('GET', base, { body: { ...facts, id: 1 } });
    forge.on('GET', `${base}/branches/main`, () => ({ body: { commit: { sha: sha(this.head) } } }));
    forge.on('GET', /\/commits\//, ({ path }) => ({
      body: { sha: path.split('/').at(-1), html_url: 'https://forge.example/c', commit: { message: 'A commit' } },
    }));
    forge.on('GET', `${base}/hooks`, { body: [] });
    forge.on('POST', `${base}/hooks`, ({ body }) => {
      this.secret = body.config.secret;
      return { status: 201, body: { id: 5, config: { url: body.config.url } } };
    });
    forge.on('GET', /\/compare\//, { body: { files: [{ filename: 'main.tf' }], behind_by: 0 } });
    forge.on('GET', /\/tarball\//, { body: tarball });
  }

  /** Delay of responses in ms. */
  async push(hook: string): Promise<number> {
    const repository = { id: 1, full_name: identifier, default_branch: 'main' };
    const [before, after] = [sha(this.head), sha(++this.head)];
    const body = JSON.stringify({ repository, sender: { login: 'octocat' }, ref: 'refs/heads/main', before, after });
    const begin = performance.now();
    const answer = await fetch(hook, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': `bench-${this.head}`,
        'x-hub-signature-256': `sha256=${createHmac('sha256', this.secret).update(body).digest('hex')}`,
      },
    });
    if (answer.status !== 202) throw new Error(`the delivery was answered with ${answer.status}`);
    return performance.now() - begin;
  }
}

const latest = async (client: Client, { organization }: Local): Promise<string> => {
  const [event] = await client.list(`/organizations/${organization}/vcs-events?page[size]=1`);
  return String(event?.attributes.message);
};

/** Locked workspaces keep their runs queued, so that the platform is measured and not Terraform. */
const follow = async (
  client: Client,
  local: Local,
  token: string,
  name: string,
  locked: boolean,
): Promise<Resource> => {
  const workspace = await client.createWorkspace(local.organization, name, {
    'queue-all-runs': false,
    'trigger-patterns': ['**/*'],
    'vcs-repo': { identifier, 'oauth-token-id': token },
  });
  if (locked) await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'bench' });
  await client.call('PATCH', `/workspaces/${workspace.id}`, {
    data: { type: 'workspaces', attributes: { 'queue-all-runs': true } },
  });
  return workspace;
};

const hookOf = (workspace: Resource, local: Local): string => {
  const repo = workspace.attributes['vcs-repo'] as { 'webhook-url': string };
  return `${local.url}${new URL(repo['webhook-url']).pathname}`;
};

const newestRun = async (client: Client, workspace: Resource): Promise<Resource | undefined> =>
  (await client.list(`/workspaces/${workspace.id}/runs?page[size]=1`))[0];

async function* latencies(client: Client, local: Local, remote: Remote, token: string): AsyncGenerator<Figure> {
  const workspace = await follow(client, local, token, 'vcs-one', true);
  const hook = hookOf(workspace, local);
  const answers: number[] = [];
  const created: number[] = [];
  for (let i = 0; i < pushes; i++) {
    const before = (await newestRun(client, workspace))?.id;
    const begin = Date.now();
    answers.push(await remote.push(hook));
    const run = await until(
      () => newestRun(client, workspace),
      (one) => one !== undefined && one.id !== before,
      60_000,
    );
    created.push(Date.parse(String(run?.attributes['created-at'])) - begin);
    // The platform accepts 20 deliveries of one repository per second.
    await delay(60);
  }
  yield { name: 'delivery answered (p95)', value: round(quantile(answers, 0.95)), unit: 'ms', atMost: 150 };
  yield { name: 'push received to run created (p95)', value: round(quantile(created, 0.95)), unit: 'ms', atMost: 1000 };
}

async function* statuses(client: Client, local: Local, remote: Remote, token: string): AsyncGenerator<Figure> {
  const posted = new Map<string, number>();
  remote.forge.on('POST', /\/statuses\//, ({ path, body }) => {
    const commit = path.split('/').at(-1) ?? '';
    // The run of the locked workspace is pending meanwhile: the status covers both.
    if (body.description.includes('1 planned') && !posted.has(commit)) posted.set(commit, Date.now());
    return { status: 201, body: {} };
  });
  const workspace = await follow(client, local, token, 'vcs-plans', false);
  const delays: number[] = [];
  for (let i = 0; i < plans; i++) {
    const before = (await newestRun(client, workspace))?.id;
    await remote.push(hookOf(workspace, local));
    const run = await until(
      () => newestRun(client, workspace),
      (one) => one !== undefined && one.id !== before,
      60_000,
    );
    if (!run) continue;
    const planned = await client.waitForRun(run.id, ({ attributes }) => attributes.status === 'planned_and_finished');
    const commit = sha(remote.head);
    await until(
      async () => posted.get(commit) ?? null,
      (at) => at !== null,
      60_000,
    );
    const { 'planned-and-finished-at': at } = planned.attributes['status-timestamps'] as Record<string, string>;
    delays.push((posted.get(commit) ?? 0) - Date.parse(at ?? ''));
  }
  yield {
    name: 'plan finished to commit status posted (p95)',
    value: round(quantile(delays, 0.95)),
    unit: 'ms',
    atMost: 2000,
  };
}

async function* monorepo(client: Client, local: Local, remote: Remote, token: string): AsyncGenerator<Figure> {
  const names = Array.from({ length: followers }, (_, i) => `vcs-many-${i}`);
  let workspace: Resource | undefined;
  for (let i = 0; i < names.length; i += 10) {
    [workspace] = await Promise.all(names.slice(i, i + 10).map((name) => follow(client, local, token, name, true)));
  }
  const hook = hookOf(workspace as Resource, local);
  await until(
    () => latest(client, local),
    (message) => message.includes('vcs-many'),
    60_000,
  );
  remote.forge.calls.length = 0;
  const begin = Date.now();
  await remote.push(hook);
  const message = await until(
    () => latest(client, local),
    (text) =>
      text.startsWith('Queued') &&
      text.includes(sha(remote.head).slice(0, 7)) &&
      Number.parseInt(text.slice(7), 10) > 1,
    120_000,
  );
  const seconds = (Date.now() - begin) / 1000;
  yield { name: `one push, ${followers} followers: all runs created`, value: round(seconds, 1), unit: 's', atMost: 20 };
  yield {
    name: 'followers without a run',
    value: followers - (Number.parseInt(message.slice(7), 10) - 2),
    unit: 'runs',
    atMost: 0,
  };
  const fetches = remote.forge.asked('GET', /\/tarball\//).length;
  yield { name: 'fetches of that push', value: fetches, unit: 'requests', atMost: 1 };
}

export const versionControl: Section = {
  about: `${pushes} pushes to one workspace, ${plans} plans, and one push to ${followers} workspaces`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const [platform, forge] = [await PlatformProcess.start(), await startForge()];
    try {
      const { local } = platform;
      const client = new Client(local.url, local.token);
      const remote = new Remote(forge, await archive({ 'infra-1/main.tf': 'terraform {}\n' }));
      const connection = await client.create(`/organizations/${local.organization}/oauth-clients`, 'oauth-clients', {
        'service-provider': 'github',
        'http-url': forge.url,
        'api-url': forge.url,
        'oauth-token-string': 'good',
      });
      const token = related(connection, 'oauth-tokens') ?? '';
      yield* latencies(client, local, remote, token);
      yield* statuses(client, local, remote, token);
      yield* monorepo(client, local, remote, token);
    } finally {
      await platform.remove();
      await forge.close();
    }
  },
};
