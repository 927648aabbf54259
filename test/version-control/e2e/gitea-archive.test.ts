import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { Client, isFinalRun, type Resource, related, until } from '#test/e2e/support/waiting.ts';
import { resources } from '#test/e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { Gitea } from '../gitea/gitea.ts';

/** Commits of a real Gitea that no run needs any more, and a Gitea that is down when a run needs one again. */

const binary = giteaBinary();
let gitea: Gitea;
let platform: PlatformProcess;
let client: Client;
let token: string;

beforeAll(async () => {
  if (!binary) return;
  [gitea, platform] = await Promise.all([
    Gitea.start(),
    PlatformProcess.start({ STEPFORM_COMMIT_ARCHIVE_SECONDS: '1' }),
  ]);
  client = new Client(platform.local.url, platform.local.token);
  operate(platform.local);
  const at = `/organizations/${platform.local.organization}/oauth-clients`;
  const connection = await client.create(at, 'oauth-clients', {
    'service-provider': 'gitea',
    'http-url': gitea.url,
    'api-url': `${gitea.url}/api/v1`,
    'oauth-token-string': gitea.owner.token,
  });
  token = related(connection, 'oauth-tokens') ?? '';
}, 180_000);
afterAll(async () => {
  await platform?.remove();
  await gitea?.stop();
});

/** Objects of commits in the bucket. */
const stored = (): string[] =>
  new DatabaseSync(join(platform.dataDir, 'data.sqlite'), { readOnly: true })
    .prepare("SELECT key FROM objects WHERE key LIKE '%configurations/vcs/%'")
    .all()
    .map(({ key }) => key as string);

/** The sweep's minute passes faster in this test. */
const sweep = async (): Promise<void> => {
  const lambda = new LambdaClient({ endpoint: platform.local.awsEndpointUrl });
  await lambda.send(new InvokeCommand({ FunctionName: 'SweepFunction' }));
};

const versionOf = (run: Resource): Promise<Resource> => client.get(`/runs/${run.id}/configuration-version`);
const final = (run: Resource) => client.waitForRun(run.id, isFinalRun, 120_000);

const untilArchived = async (run: Resource): Promise<void> => {
  const status = async () => {
    await sweep();
    return (await versionOf(run)).attributes.status;
  };
  await expect.poll(status, { timeout: 60_000, interval: 1000 }).toBe('archived');
};

let workspace: Resource;
/** The workspace has applied a commit. */
let run: Resource;
beforeAll(async () => {
  if (!binary) return;
  const identifier = await gitea.repository('archived', { 'main.tf': resources(['a']) });
  workspace = await client.createWorkspace(platform.local.organization, 'archived', {
    'queue-all-runs': true,
    'auto-apply': true,
    'vcs-repo': { identifier, 'oauth-token-id': token },
  });
  const runs = () => client.list(`/workspaces/${workspace.id}/runs`);
  const [first] = await until(runs, (all) => all.length === 1);
  run = await final(first as Resource);
  expect(run.attributes.status).toBe('applied');
}, 180_000);

it.skipIf(!binary)(
  'a commit leaves the bucket after its run; a later run shows why it waits for a Gitea that is down, can be canceled, and the next one fetches it again',
  async () => {
    expect(stored()).toHaveLength(1);
    await untilArchived(run);
    expect(stored()).toEqual([]);
    await gitea.down();
    const waiting = await client.createRun(workspace.id);
    const shown = await client.waitForRun(
      waiting.id,
      (now) => now.attributes['fetch-retry'] !== null || isFinalRun(now),
    );
    expect([shown.attributes.status, shown.attributes['fetch-retry']]).toEqual([
      'fetching',
      {
        reason: expect.stringContaining('could not be fetched: Gitea'),
        'next-attempt-at': expect.any(String),
      },
    ]);
    await client.act(waiting.id, 'cancel');
    expect((await final(waiting)).attributes.status).toBe('canceled');
    await gitea.up();
    const { id } = await client.createRun(workspace.id);
    const ended = async () => {
      await sweep();
      return (await client.run(id)).attributes.status;
    };
    await expect.poll(ended, { timeout: 200_000, interval: 2000 }).toBe('planned_and_finished');
    const next = await client.run(id);
    expect(next.attributes['status-timestamps']).toMatchObject({
      'fetching-at': expect.any(String),
      'fetched-at': expect.any(String),
    });
    expect((await versionOf(next)).id).toBe((await versionOf(run)).id);
  },
  420_000,
);
