import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Chance } from '#test/chaos/seeded-random.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { ApiError, Client, isFinalRun, type Resource, related } from '#test/e2e/support/waiting.ts';
import { resources } from '#test/e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { Gitea } from '../gitea/gitea.ts';

/**
 * The platform is killed during connections and disconnections, while a real Gitea delivers pushes and pull requests,
 * and while commits are fetched, planned, applied and posted. Gitea does not redeliver what it could not deliver.
 */

const binary = giteaBinary();
const chance = new Chance(1);

let gitea: Gitea;
let platform: PlatformProcess;
let client: Client;
let token: string;
const signIn = () => {
  client = new Client(platform.local.url, platform.local.token);
};

beforeAll(async () => {
  if (!binary) return;
  [gitea, platform] = await Promise.all([Gitea.start(), PlatformProcess.start()]);
  signIn();
  operate(platform.local);
  const connection = await client.create(
    `/organizations/${platform.local.organization}/oauth-clients`,
    'oauth-clients',
    {
      'service-provider': 'gitea',
      'http-url': gitea.url,
      'api-url': `${gitea.url}/api/v1`,
      'oauth-token-string': gitea.owner.token,
    },
  );
  token = related(connection, 'oauth-tokens') ?? '';
});
afterAll(async () => {
  await platform?.remove();
  await gitea?.stop();
});

/** Kills the platform during work at the forge or here, so that neither knows the outcome. */
const killDuring = async (there: () => Promise<unknown>, here: () => Promise<unknown> = async () => {}) => {
  const killed = delay(chance.between(50, 1500)).then(() => platform.stop('SIGKILL'));
  await Promise.all([there(), here().catch(() => {}), killed]);
  await platform.start();
  signIn();
};

/** Connects like a user who is unsure of the outcome of an earlier attempt. */
const follow = async (name: string, identifier: string): Promise<Resource> => {
  const at = `/organizations/${platform.local.organization}/workspaces/${name}`;
  const repo = { identifier, 'oauth-token-id': token };
  const attributes = { 'queue-all-runs': true, 'auto-apply': true };
  const there = await client.get(at).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  if (!there) return client.createWorkspace(platform.local.organization, name, { ...attributes, 'vcs-repo': repo });
  return (await client.call('PATCH', at, { data: { type: 'workspaces', attributes: { 'vcs-repo': repo } } })).data;
};

const unfollow = ({ id }: Resource): Promise<unknown> =>
  client.call('PATCH', `/workspaces/${id}`, { data: { type: 'workspaces', attributes: { 'vcs-repo': null } } });

/** The sweep's minute passes faster in this test. */
const sweep = async (): Promise<void> => {
  const lambda = new LambdaClient({ endpoint: platform.local.awsEndpointUrl });
  await lambda.send(new InvokeCommand({ FunctionName: 'SweepFunction' }));
};

const hooksOf = async (identifier: string): Promise<number> =>
  (await gitea.call('GET', `/repos/${identifier}/hooks`)).length;

interface CommitRun {
  run: Resource;
  sha: string;
  isPull: boolean;
}

/** Newest first. */
const runsOf = async ({ id }: Resource): Promise<CommitRun[]> => {
  const operations = 'filter[operation]=plan_and_apply,plan_only';
  const runs = await client.list(`/workspaces/${id}/runs?page[size]=100&${operations}`);
  return Promise.all(
    runs.map(async (run) => {
      const version = await client.get(`/runs/${run.id}/configuration-version`);
      const { attributes } = await client.get(`/configuration-versions/${version.id}/ingress-attributes`);
      return { run, sha: attributes['commit-sha'], isPull: attributes['is-pull-request'] };
    }),
  );
};

/** The platform is killed four times, and repeats interrupted work after each. */
const settledMs = 180_000;

it.skipIf(!binary)(
  'the platform runs the newest commit and plans the newest of a pull request once each, with their statuses',
  async () => {
    const identifier = await gitea.repository('killed', { 'main.tf': resources(['a0']) });
    const elsewhere = await gitea.repository('left', { 'main.tf': '' });
    const pushed: string[] = [(await gitea.call('GET', `/repos/${identifier}/branches/main`)).commit.id];
    const push = async () => {
      pushed.push(
        await gitea.push(identifier, { 'main.tf': resources([`a${pushed.length}`]) }, `Push ${pushed.length}`),
      );
    };
    const left = await follow('left', elsewhere);
    await killDuring(
      async () => {},
      () => Promise.all([follow('killed', identifier), unfollow(left)]),
    );
    const [workspace] = await Promise.all([follow('killed', identifier), unfollow(left)]);
    await killDuring(async () => {
      for (let n = 0; n < 2; n++) await push();
    });
    let head = '';
    const propose = async (from?: string) => {
      const files = { 'main.tf': resources(['a0', `p${Date.now()}`]) };
      head = await gitea.push(identifier, files, 'Proposed', { branch: 'feature', ...(from ? { from } : {}) });
    };
    await killDuring(async () => {
      await propose('main');
      await gitea.pull(identifier, 'feature', 'Please');
      await push();
      await propose();
    });
    // During runs and their statuses.
    await push();
    await propose();
    await killDuring(() => delay(1500));
    // The platform may have missed all earlier deliveries.
    await push();
    await propose();

    const newest = pushed.at(-1) ?? '';
    const stateOf = async (sha: string) => (await gitea.statuses(identifier, sha))[0]?.state;
    const settled = async () => {
      await sweep();
      const all = await runsOf(workspace);
      return {
        open: all.filter(({ run }) => !isFinalRun(run)).length,
        newest: all.find(({ sha }) => sha === newest)?.run.attributes.status,
        planned: all.find(({ sha }) => sha === head)?.run.attributes.status,
        statuses: [await stateOf(newest), await stateOf(head)],
        hooks: [await hooksOf(identifier), await hooksOf(elsewhere)],
      };
    };
    await expect.poll(settled, { timeout: settledMs, interval: 1000 }).toEqual({
      open: 0,
      newest: 'applied',
      planned: 'planned_and_finished',
      statuses: ['success', 'success'],
      hooks: [1, 0],
    });
    const all = await runsOf(workspace);
    expect(new Set(all.map(({ sha }) => sha)).size).toBe(all.length);
    const order = all.filter(({ isPull }) => !isPull).map(({ sha }) => pushed.indexOf(sha));
    expect(order).toEqual([...order].sort((a, b) => b - a));
    expect(order[0]).toBe(pushed.length - 1);
  },
  2 * settledMs,
);
