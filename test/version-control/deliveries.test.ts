import { beforeEach, describe, expect, it } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';
import { signature } from './support/signature.ts';

/** From webhooks to runs, with a server that answers like GitHub. */

const followed = await Followed.start();
const { api, forge } = followed;
beforeEach(() => followed.reset());

const settle = () => followed.settle();
const connect = (attributes: object = {}) => followed.connect(attributes);
const deliver = (hook: string, kind: string, payload: object, headers?: Record<string, string>) =>
  followed.deliver(hook, kind, payload, headers);
/** Events of this test's repository only, because other tests moved the clock. */
const newestOf = async () => (await followed.messages()).find((message) => message.includes(followed.identifier));
const runsOf = (workspace: { id: string }) => followed.runsOf(workspace);
const commitsOf = (workspace: { id: string }) => followed.commitsOf(workspace);

it('connecting creates the webhook, and queues the first run with queue-all-runs', async () => {
  const { workspace } = await connect();
  const [made] = forge.asked('POST', `/repos/${followed.identifier}/hooks`);
  expect(made?.body).toMatchObject({
    events: ['push', 'pull_request', 'issue_comment', 'merge_group'],
    config: { content_type: 'json' },
  });
  const [run] = await runsOf(workspace);
  expect(run).toMatchObject({
    message: 'A commit',
    createdBy: 'vcs',
    source: 'tfe-configuration-version',
    planOnly: false,
    checks: { fetching: true },
    ingress: {
      commitSha: sha(0),
      identifier: followed.identifier,
      branch: 'main',
      onDefaultBranch: true,
      fromForge: true,
    },
  });
  const shown = (await api.get(`runs/${run.id}?include=created_by`)).body.data;
  expect([shown.relationships['created-by'].data, shown.attributes['trigger-reason']]).toEqual([null, 'vcs']);
});

it('connecting keeps the configuration and starts no first run without queue-all-runs', async () => {
  const { workspace, hook } = await connect({ 'queue-all-runs': false });
  await deliver(hook, 'push', push(0, 1));
  await settle();
  expect(await runsOf(workspace)).toEqual([]);
  const versions = (await api.get(`workspaces/${workspace.id}/configuration-versions`)).body.data;
  expect(versions.map(({ attributes }: Json) => [attributes.status, attributes.source])).toEqual([
    ['fetching', 'github'],
    ['fetching', 'github'],
  ]);
});

describe('the webhook rejects a delivery', () => {
  it.each([
    ['without a signature', { 'x-hub-signature-256': '' }, 401],
    ['signed with another secret', { 'x-hub-signature-256': signature('{}', 'other') }, 401],
    ['with a SHA-1 signature only', { 'x-hub-signature-256': '', 'x-hub-signature': 'sha1=00' }, 401],
    ['that is a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ])('%s', async (_, headers, status) => {
    const { workspace, hook } = await connect();
    expect((await deliver(hook, 'push', push(0, 1), headers)).status).toBe(status);
    expect(api.aws.invoked.filter(({ name }) => name === 'VersionControlEventFunction')).toEqual([]);
    await settle();
    expect(await runsOf(workspace)).toHaveLength(1);
  });

  it('whose body was changed by a byte', async () => {
    const { hook } = await connect();
    const repository = { id: followed.repositoryId, full_name: followed.identifier, default_branch: 'main' };
    const body = JSON.stringify({ ...push(0, 1), repository, sender: { login: 'octocat' } });
    const signed = { 'x-hub-signature-256': signature(body, followed.secret) };
    const headers = { 'content-type': 'application/json', 'x-github-event': 'push', ...signed };
    const sent = (text: string) => api.call('POST', hook, { token: null, body: text, headers });
    expect((await sent(body.replace(sha(1), sha(2)))).status).toBe(401);
    expect((await sent(`${body} `)).status).toBe(401);
    expect((await sent(body)).status).toBe(202);
  });

  it('for another repository, or to an unknown address', async () => {
    const { hook } = await connect();
    const other = { ...push(0, 1), repository: { id: 1, full_name: 'x/y' } };
    expect((await deliver(hook, 'push', other)).status).toBe(401);
    expect(
      (
        await deliver(
          hook.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
          'push',
          push(0, 1),
        )
      ).status,
    ).toBe(404);
  });

  it('but responds with 200 to irrelevant events', async () => {
    const { hook } = await connect();
    const { status, body } = await deliver(hook, 'ping', {});
    expect([status, body]).toEqual([200, { ignored: 'events of kind ping' }]);
  });
});

describe('pushes', () => {
  const ordersOf = (all: number[]): number[][] =>
    all.length === 0
      ? [[]]
      : all.flatMap((one) => ordersOf(all.filter((other) => other !== one)).map((rest) => [one, ...rest]));
  const orders = ordersOf([1, 2, 3, 4]);
  it.each(orders)(
    'in the order %i %i %i %i, each three times, end with a run of the newest commit',
    async (...order) => {
      const { workspace, hook } = await connect();
      followed.head = sha(4);
      for (const n of [...order, ...order, ...order]) {
        followed.toNextSecond();
        expect((await deliver(hook, 'push', push(n - 1, n))).status).toBe(202);
        await settle();
      }
      const commits = await commitsOf(workspace);
      expect(commits.at(-1)).toBe(sha(4));
      expect([...new Set(commits)].sort()).toEqual(commits);
    },
  );

  it('that are handled concurrently end with the newest commit, and no older run after it', async () => {
    const { workspace, hook } = await connect();
    for (const n of [1, 2, 3]) await deliver(hook, 'push', push(n - 1, n));
    followed.head = sha(3);
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const events = api.aws.invoked.splice(0).filter(({ name }) => name === 'VersionControlEventFunction');
    await Promise.all([...events, ...events].map(({ event }) => handler(event as never)));
    const commits = await commitsOf(workspace);
    expect(commits.at(-1)).toBe(sha(3));
    expect(new Set(commits).size).toBe(commits.length);
  });

  it('that are interrupted at any call are completed when handled again', async () => {
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const { workspace, hook } = await connect();
    let done = 0;
    for (let n = 1; n <= 60 && done < 2; n++) {
      followed.toNextSecond();
      followed.head = sha(n);
      // At the maximum number of deliveries per second.
      await expect.poll(async () => (await deliver(hook, 'push', push(n - 1, n))).status).toBe(202);
      const [next] = api.aws.invoked.splice(0).filter(({ name }) => name === 'VersionControlEventFunction');
      api.aws.failCall(n, n % 2 ? 'before' : 'after');
      await handler(next?.event as never).catch(() => {});
      if (api.aws.pendingFault) done++;
      api.aws.failCall(0, 'before');
      await handler(next?.event as never);
      api.aws.invoked.length = 0;
      expect((await commitsOf(workspace)).at(-1)).toBe(sha(n));
    }
    expect(done).toBe(2);
    const commits = await commitsOf(workspace);
    expect(new Set(commits).size).toBe(commits.length);
  });

  it('start only workspaces that their files concern', async () => {
    const { workspace, hook } = await connect({ 'working-directory': 'b' });
    await deliver(hook, 'push', push(0, 1));
    await settle();
    expect(await commitsOf(workspace)).toEqual([sha(0)]);
    expect(await newestOf()).toContain('no changed file affects the 1 workspace');
  });

  it('are fetched once for all followers', async () => {
    const { hook } = await connect();
    api.aws.invoked.length = 0;
    await deliver(hook, 'push', push(0, 1));
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const [next] = api.aws.invoked.splice(0);
    await handler(next?.event as never);
    expect(api.aws.invoked.filter(({ name }) => name === 'FetchCommitFunction')).toHaveLength(1);
  });
});

describe('pull requests', () => {
  const request = (n: number, change?: object) => followed.request(n, change);

  it('are planned speculatively, and the plan of an outdated commit is canceled', async () => {
    const { workspace, hook } = await connect();
    followed.pull = request(10);
    await deliver(hook, 'pull_request', { action: 'opened', number: 7 });
    await settle();
    followed.pull = request(11);
    await deliver(hook, 'pull_request', { action: 'synchronize', number: 7 });
    await settle();
    const [newer, older] = (await runsOf(workspace))
      .filter(({ planOnly }) => planOnly)
      .sort((a, b) => b.number - a.number);
    expect(newer).toMatchObject({ ingress: { commitSha: sha(11), pullRequest: { number: 7, title: 'Change it' } } });
    expect(older).toMatchObject({ ingress: { commitSha: sha(10) }, cancel: { by: 'vcs' } });
    expect(newer.cancel).toBeUndefined();
  });

  it.each([
    ['of a fork', { head: { sha: sha(10), ref: 'f', repo: { id: 1 } } }, 'comes from a fork'],
    ['of a fork that was deleted', { head: { sha: sha(10), ref: 'f', repo: null } }, 'comes from a fork'],
    [
      'that was pushed without a branch',
      { head: { sha: sha(10), ref: 'refs/pull/7/head', repo: null } },
      'was pushed without a branch',
    ],
    ['that is closed', { state: 'closed' }, 'is closed'],
    ['to another branch', { base: { ref: 'other', repo: { id: 1 } } }, 'affects none'],
  ])('%s start nothing', async (_, change, words) => {
    const { workspace, hook } = await connect();
    followed.pull = request(10, change);
    if (words === 'affects none') followed.pull.head.repo.id = 1;
    if (words === 'was pushed without a branch') followed.pull.head.repo = { id: followed.repositoryId };
    await deliver(hook, 'pull_request', { action: 'opened', number: 7 });
    await settle();
    expect(await runsOf(workspace)).toHaveLength(1);
    expect(await newestOf()).toContain(words);
  });
});

it('the progress of the plan is posted, once for each change', async () => {
  const { workspace } = await connect();
  const [run] = await runsOf(workspace);
  const { handler } = await import('#version-control/commit-status.ts');
  await handler({ runId: run.id });
  await handler({ runId: run.id });
  const posts = forge.asked('POST', new RegExp(`/statuses/${sha(0)}$`));
  expect(posts.map(({ body }) => body)).toEqual([
    {
      state: 'pending',
      context: 'stepform/acme',
      description: 'Waiting for its turn',
      target_url: `https://stepform.example/app/acme/workspaces/${workspace.attributes.name}/runs/${run.id}`,
    },
  ]);
});

describe('vcs-repo', () => {
  const refused = async (change: object, attributes: object = {}) => {
    const { workspace } = await connect();
    const token = workspace.attributes['vcs-repo']['oauth-token-id'];
    const { status, body } = await api.post('organizations/acme/workspaces', {
      name: uniqueName('refused'),
      ...attributes,
      'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token, ...change },
    });
    return [status, body.errors?.[0]?.detail];
  };
  it.each([
    ['an unknown repository', { identifier: 'acme/none' }, "Repository doesn't exist or isn't accessible."],
    ['an unknown branch', { branch: 'none' }, 'Branch none does not exist'],
    ['an unknown connection', { 'oauth-token-id': 'ot-none' }, 'connection not found for this project'],
    ['two connections', { 'github-app-installation-id': 'ghain-1' }, 'cannot be set together with'],
    [
      'an installation that was not linked',
      { 'oauth-token-id': '', 'github-app-installation-id': 'ghain-1' },
      'acme has not linked this installation',
    ],
    ['an invalid expression', { 'tags-regex': '(' }, 'is not a supported expression'],
    ['a path for a name', { identifier: 'acme/../etc' }, 'must be like owner/name'],
  ])('rejects %s', async (_, change, words) => {
    expect(await refused(change)).toEqual([422, expect.stringContaining(words)]);
  });

  it('is disconnected, and the webhook deleted', async () => {
    const { workspace, hook } = await connect();
    const changed = await api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    expect(changed.body.data.attributes['vcs-repo']).toBeNull();
    expect((await deliver(hook, 'push', push(0, 1))).status).toBe(404);
    const { settleRepository } = await import('#version-control/webhooks.ts');
    const { repositoryId: idOf } = await import('#version-control/repositories.ts');
    await settleRepository(idOf(workspace.attributes['vcs-repo']['oauth-token-id'], followed.identifier));
    expect(forge.asked('DELETE', `/repos/${followed.identifier}/hooks/5`)).toHaveLength(1);
  });

  it('allows uploads only for speculative plans', async () => {
    const { workspace } = await connect();
    const path = `workspaces/${workspace.id}/configuration-versions`;
    expect((await api.post(path, {})).status).toBe(422);
    expect((await api.post(path, { speculative: true })).status).toBe(201);
  });
});
