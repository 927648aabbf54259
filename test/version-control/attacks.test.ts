import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf } from '#test/support/api.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';
import { overhear } from './support/overhear.ts';
import { signature } from './support/signature.ts';

/** Attacks by clients that can send to a webhook, push to a branch, or take over a repository's name. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const check = async (workspace: Json): Promise<void> => {
  const { status } = await followed.api.call('POST', `workspaces/${workspace.id}/actions/fetch-latest-from-vcs`);
  expect(status).toBe(202);
  await followed.settle();
};
const pushed = async (hook: string, payload: object, headers?: Record<string, string>): Promise<void> => {
  expect((await followed.deliver(hook, 'push', payload, headers)).status).toBe(202);
  await followed.settle();
};

describe('a delivery without the right signature', () => {
  const kms = async (work: () => Promise<void>): Promise<number> => {
    const { KMSClient } = await import('@aws-sdk/client-kms');
    // biome-ignore lint/suspicious/noExplicitAny: commands of any kind
    const client = KMSClient.prototype as { send(this: unknown, command: any): Promise<any> };
    const { send } = client;
    let calls = 0;
    client.send = function (this: unknown, command) {
      calls++;
      return send.call(this, command);
    };
    await work().finally(() => {
      client.send = send;
    });
    return calls;
  };
  const refused = async (hook: string, headers: Record<string, string>, status = 401): Promise<number> => {
    const { aws } = followed.api;
    const before = aws.calls;
    expect((await followed.deliver(hook, 'push', push(0, 1), headers)).status).toBe(status);
    expect(aws.invoked).toEqual([]);
    return aws.calls - before;
  };

  it('costs the two reads that find the secret, and the event once a minute', async () => {
    const { hook } = await followed.connect();
    followed.api.aws.invoked.length = 0;
    const wrong = { 'x-hub-signature-256': signature('{}', 'other') };
    expect(await refused(hook, wrong)).toBe(3);
    const calls = await kms(async () => {
      for (const headers of [wrong, { 'x-hub-signature-256': '' }, { 'x-hub-signature-256': 'sha256=ü' }]) {
        expect(await refused(hook, headers)).toBe(2);
      }
    });
    expect([calls, followed.forge.asked('POST', /./).length]).toEqual([0, 1]);
  });

  it('costs one read for an unknown webhook, and none for an invalid id', async () => {
    expect(await refused(`/webhooks/vcs/${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`, {}, 404)).toBe(1);
    expect(await refused('/webhooks/vcs/none', {}, 404)).toBe(0);
  });

  it('is not read beyond the size limit', async () => {
    const { hook } = await followed.connect();
    followed.api.aws.invoked.length = 0;
    const { status } = await followed.deliver(hook, 'push', { ...push(0, 1), padding: 'x'.repeat(5_000_000) });
    expect([status, followed.api.aws.invoked]).toEqual([413, []]);
  });
});

describe('an old delivery that is repeated under another id', () => {
  it('does not bring back a commit that the branch was reset from', async () => {
    const { workspace, hook } = await followed.connect();
    followed.head = sha(1);
    await pushed(hook, push(0, 1));
    followed.head = sha(0);
    await pushed(hook, { ...push(1, 0), forced: true });
    await pushed(hook, push(0, 1), { 'x-github-delivery': 'replayed', date: new Date().toUTCString() });
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1), sha(0)]);
  });

  it('does not bring back an older tag', async () => {
    const { token } = await followed.connection();
    const { workspace, hook } = await followed.follow(token, {}, { 'tags-regex': '^v' });
    const tag = (n: number) => ({
      ref: `refs/tags/v${n}`,
      created: true,
      before: '0'.repeat(40),
      after: sha(n),
      head_commit: { id: sha(n) },
    });
    for (const n of [1, 2]) await pushed(hook, tag(n));
    await pushed(hook, tag(1), { 'x-github-delivery': 'replayed' });
    expect((await followed.commitsOf(workspace)).slice(-2)).toEqual([sha(1), sha(2)]);
    expect((await followed.messages())[0]).toContain('duplicate commit SHA of v1');
  });
});

describe('another repository with the same name', () => {
  it('does not run when a user checks for the newest commit, and gets no webhook', async () => {
    const { workspace } = await followed.connect();
    const made = followed.forge.asked('POST', /\/hooks$/).length;
    followed.repositoryId++;
    followed.head = sha(9);
    const facts = { full_name: followed.identifier, default_branch: 'main', permissions: { admin: true } };
    followed.forge.on('GET', `/repos/${followed.identifier}`, { body: { ...facts, id: followed.repositoryId } });
    await check(workspace);
    expect([await followed.commitsOf(workspace), followed.forge.asked('POST', /\/hooks$/).length]).toEqual([
      [sha(0)],
      made,
    ]);
    expect((await followed.messages())[0]).toContain('another repository has taken its name');
  });

  it('is rejected for further followers until nothing follows the former one', async () => {
    const { workspace, token, hook } = await followed.connect();
    followed.repositoryId++;
    const facts = { full_name: followed.identifier, default_branch: 'main', permissions: { admin: true } };
    followed.forge.on('GET', `/repos/${followed.identifier}`, { body: { ...facts, id: followed.repositoryId } });
    const connect = (name: string) =>
      followed.api.post('organizations/acme/workspaces', {
        name,
        'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token },
      });
    const refused = await connect('late');
    expect(detailOf(refused)).toEqual([422, expect.stringContaining('another repository has taken its name')]);
    expect((await followed.deliver(hook, 'push', push(0, 1))).status).toBe(401);
    await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    expect((await connect('late')).status).toBe(201);
  });
});

describe('names of branches', () => {
  it('with characters of shells and paths are treated as names, at the forge and in the run', async () => {
    const { token } = await followed.connection();
    const branch = "fix/$(id)&`x`;|'%2e%2e";
    const at = `/repos/${followed.identifier}/branches/${branch.split('/').map(encodeURIComponent).join('/')}`;
    followed.forge.on('GET', at, { body: { commit: { sha: sha(0) } } });
    const { workspace, hook } = await followed.follow(token, {}, { branch });
    await pushed(hook, { ...push(0, 1), ref: `refs/heads/${branch}` });
    const [, run] = await followed.runsOf(workspace);
    expect(run.ingress).toMatchObject({ commitSha: sha(1), branch });
  });

  it.each(['../../../user', 'a..b', '-x', 'a b', 'x.lock', 'a\u0000b'])(
    'are rejected when invalid: %j',
    async (branch) => {
      const { token } = await followed.connection();
      const { status } = await followed.api.post('organizations/acme/workspaces', {
        name: 'odd',
        'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token, branch },
      });
      const query = new URLSearchParams({ oauth_token_id: token, identifier: followed.identifier, branch });
      const tree = await followed.api.get(`organizations/acme/vcs/tree?${query}`);
      expect([status, tree.status]).toEqual([422, 400]);
    },
  );

  it('with the separator of keys are kept apart', async () => {
    const { token } = await followed.connection();
    for (const branch of ['main%23', 'main%231', 'main%25231']) {
      followed.forge.on('GET', `/repos/${followed.identifier}/branches/${branch}`, {
        body: { commit: { sha: sha(5) } },
      });
    }
    const { workspace, hook } = await followed.follow(token);
    for (const branch of ['main#', 'main#1', 'main%231']) await followed.follow(token, {}, { branch });
    await pushed(hook, push(0, 1));
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    expect(followed.forge.asked('GET', `/repos/${followed.identifier}/branches/main`)).toHaveLength(2);
  });
});

describe('a pull request', () => {
  it('of a fork gets no status and no comment, and costs only the request that detects it', async () => {
    const { hook, workspace } = await followed.connect();
    followed.api.aws.invoked.length = 0;
    followed.forge.calls.length = 0;
    followed.pull = followed.request(10, { head: { sha: sha(10), ref: 'f', repo: { id: 1 } } });
    await followed.deliver(hook, 'pull_request', { action: 'opened', number: 7 });
    await followed.settleAndFetch();
    expect(followed.forge.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /repos/${followed.identifier}/pulls/7`,
    ]);
    expect(await followed.runsOf(workspace)).toHaveLength(1);
    const { body } = await followed.api.get(`workspaces/${workspace.id}/configuration-versions`);
    expect(body.data).toHaveLength(1);
  });

  it('is not hidden from trigger paths by moving files', async () => {
    const { hook, workspace } = await followed.connect({ 'trigger-patterns': ['prod/**/*'] });
    followed.pull = followed.request(10);
    const files = [{ filename: 'away/main.tf', previous_filename: 'prod/main.tf' }];
    followed.forge.on('GET', /\/pulls\/7\/files$/, { body: files });
    await followed.deliver(hook, 'pull_request', { action: 'opened', number: 7 });
    await followed.settle();
    const [, plan] = await followed.runsOf(workspace);
    expect(plan).toMatchObject({ planOnly: true, ingress: { commitSha: sha(10) } });
    // The base in the delivery differs from the forge's, which takes precedence.
    followed.pull = followed.request(11, { base: { ref: 'other', repo: { id: followed.repositoryId } } });
    const pull = { base: { ref: 'main' }, head: { sha: sha(11) } };
    await followed.deliver(hook, 'pull_request', { action: 'synchronize', number: 7, pull_request: pull });
    await followed.settle();
    expect(await followed.runsOf(workspace)).toHaveLength(2);
  });
});

it('tokens and secrets of webhooks stay out of the table, events, executions, logs and responses', async () => {
  const heard = overhear(followed.api.aws);
  const token = 'gto_0123456789abcdef0123456789abcdef01234567';
  try {
    followed.forge.tokens.add(token);
    await followed.has({ 'main.tf': '# 1' });
    const made = await followed.api.post('organizations/acme/oauth-clients', {
      'service-provider': 'github',
      'http-url': followed.forge.url,
      'api-url': followed.forge.url,
      'oauth-token-string': token,
    });
    const id = made.body.data.relationships['oauth-tokens'].data[0].id;
    const { workspace, hook } = await followed.follow(id);
    await followed.deliver(hook, 'push', push(0, 1));
    await followed.settleAndFetch();
    followed.forge.tokens.delete(token);
    await check(workspace);
    const run = (await followed.runsOf(workspace)).at(-1);
    const { handler } = await import('#version-control/commit-status.ts');
    await handler({ runId: run.id });
    const answers = await Promise.all(
      ['organizations/acme/oauth-clients', `oauth-tokens/${id}`, 'organizations/acme/vcs-events', `runs/${run.id}`].map(
        async (path) => JSON.stringify((await followed.api.get(path)).body),
      ),
    );
    const all = [heard.text(), ...answers].join('\n');
    expect(all).toContain('no longer accepts the token');
    expect([all.includes(token), all.includes(followed.secret)]).toEqual([false, false]);
  } finally {
    heard.stop();
  }
});

describe('a message of the forge', () => {
  it('is shown in one line and without the token, even if it repeats the request', async () => {
    const token = 'gto_repeated-by-the-forge';
    const words = `no\r\n{"level":"error"}\u001b[2J\u2028${token}`;
    followed.forge.on('GET', '/user', { status: 403, body: { message: words } });
    followed.forge.tokens.add(token);
    const { body } = await followed.api.post('organizations/acme/oauth-clients', {
      'service-provider': 'github',
      'http-url': followed.forge.url,
      'api-url': followed.forge.url,
      'oauth-token-string': token,
    });
    expect(body.errors[0].detail).toContain('no {"level":"error"} [2J …');
  });

  it('becomes a link on pages only if it is a web URL', async () => {
    const { token } = await followed.connection();
    const script = 'javascript:alert(1)';
    const facts = { full_name: followed.identifier, default_branch: 'main', permissions: { admin: true } };
    const links = { html_url: script, clone_url: `${script}//` };
    followed.forge.on('GET', `/repos/${followed.identifier}`, {
      body: { ...facts, ...links, id: followed.repositoryId },
    });
    followed.forge.on('GET', /\/commits\//, { body: { sha: sha(1), html_url: script, commit: { message: 'x' } } });
    const { workspace, hook } = await followed.follow(token);
    const sender = { login: 'octocat', avatar_url: script, html_url: script };
    await pushed(hook, { ...push(0, 1), compare: script, sender });
    const [, run] = await followed.runsOf(workspace);
    expect(run.ingress.commitSha).toBe(sha(1));
    expect(JSON.stringify([run.ingress, workspace.attributes])).not.toContain('javascript:');
  });
});
