import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf } from '#test/support/api.ts';
import { Followed, type Json, sha } from './support/followed.ts';
import { azureDevops } from './support/forges/azure-devops.ts';
import { bitbucket } from './support/forges/bitbucket.ts';
import { bitbucketServer } from './support/forges/bitbucket-server.ts';
import { github } from './support/forges/github.ts';
import { gitlab } from './support/forges/gitlab.ts';
import { type Change, jane, type Kind, me, Scene, type Vote } from './support/forges/kind.ts';

/** Every forge alike, with servers that answer in the forms of their documentation. Gitea runs itself (e2e). */

const followed = await Followed.start();
const { forge } = followed;

let deliveries = 0;

describe.each([
  ['GitHub', github],
  ['GitLab', gitlab],
  ['Bitbucket Cloud', bitbucket],
  ['Bitbucket Data Center', bitbucketServer],
  ['Azure DevOps', azureDevops],
] as [string, Kind][])('%s', (_, kind) => {
  let scene: Scene;
  beforeEach(() => {
    followed.reset();
    scene = new Scene(forge, sha(0), kind.between);
    kind.answer(scene);
  });

  const connection = async (): Promise<string> => {
    const { body } = await followed.api.post('organizations/acme/oauth-clients', {
      'service-provider': kind.provider,
      'http-url': forge.url,
      'api-url': `${forge.url}${kind.apiPath}`,
      'oauth-token-string': 'good',
    });
    return body.data.relationships['oauth-tokens'].data[0].id;
  };
  const follow = async (token: string, attributes: object = {}, repo: object = {}): Promise<Json> => {
    const vcsRepo = { identifier: scene.identifier, 'oauth-token-id': token, ...repo };
    const workspace = await followed.api.workspace({ 'queue-all-runs': true, ...attributes, 'vcs-repo': vcsRepo });
    await followed.settle();
    return workspace;
  };
  const connect = async (attributes: object = {}) => {
    const token = await connection();
    const workspace = await follow(token, attributes);
    return { workspace, token, hook: new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname };
  };
  const deliver = (hook: string, [event, payload]: [string, object], headers: Record<string, string> = {}) => {
    const body = JSON.stringify({
      repository: { uuid: '{r-1}', id: 1 },
      actor: jane,
      eventType: event,
      n: ++deliveries,
      ...payload,
    });
    const signed = kind.signed(scene, event, `b-${deliveries}`, body);
    return followed.api.call('POST', hook, {
      token: null,
      body,
      headers: { 'content-type': 'application/json', ...signed, ...headers },
    });
  };

  const deliverPush = async (hook: string, changes: Change[], headers: Record<string, string> = {}) => {
    const answers = [];
    for (const one of kind.push(...changes)) answers.push(await deliver(hook, one, headers));
    return answers;
  };

  it('names the account of the token, lists its repositories, and creates webhooks with a secret', async () => {
    const { workspace, token } = await connect();
    const shown = await followed.api.get(`oauth-tokens/${token}`);
    expect(shown.body.data.attributes).toMatchObject({ 'service-provider-user': 'bot' });
    const { body } = await followed.api.get(`oauth-tokens/${token}/authorized-repos`);
    expect(body.data.map(({ id }: Json) => id)).toEqual([scene.identifier]);
    const { 'webhook-url': url } = workspace.attributes['vcs-repo'];
    expect(scene.hooks.length).toBeGreaterThan(0);
    for (const hook of scene.hooks) expect(hook).toMatchObject({ url, secret: expect.stringMatching(/.{20}/) });
    expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  });

  it('takes its webhooks over, and deletes all of them with the last follower', async () => {
    const { workspace, token } = await connect();
    const count = scene.hooks.length;
    const vcsRepo = workspace.attributes['vcs-repo'];
    const { ensureWebhook } = await import('#version-control/webhooks.ts');
    const { accessBy } = await import('#version-control/access.ts');
    const { getRepository, repositoryId } = await import('#version-control/repositories.ts');
    const id = repositoryId(token, scene.identifier);
    for (const method of ['PUT', 'PATCH']) {
      forge.on(method, /./, ({ path, body }) => ({ body: { ...body, id: path.split('/').at(-1) } }));
    }
    const repository = await getRepository(id);
    if (!repository) throw new Error('no repository');
    await ensureWebhook(await accessBy(token), repository, new URL(vcsRepo['webhook-url']).origin);
    expect(scene.hooks).toHaveLength(count);
    expect(forge.calls.filter(({ method }) => method === 'PUT' || method === 'PATCH')).toHaveLength(count);
    const deleted = new Set<string>();
    forge.on('DELETE', /./, ({ path }) => {
      deleted.add(decodeURIComponent(path.split('/').at(-1) ?? ''));
      return { status: 204 };
    });
    await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const { keys } = await import('#platform/store/keys.ts');
    await handler({ due: keys.repository(id) });
    expect(deleted).toEqual(new Set(scene.hooks.map((hook) => String(hook.id))));
  });

  it('refuses a repository whose webhooks the account may not create, and the token stays usable', async () => {
    const token = await connection();
    kind.forbid(scene);
    const attributes = { name: 'refused', 'vcs-repo': { identifier: scene.identifier, 'oauth-token-id': token } };
    const { status, body } = await followed.api.post('organizations/acme/workspaces', attributes);
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('admin access')]);
    expect((await followed.api.get(`oauth-tokens/${token}/authorized-repos`)).status).toBe(200);
  });

  it('runs every branch and tag of a push, with the commit from the archive', async () => {
    const { workspace, token, hook } = await connect();
    const tagged = await follow(token, {}, { 'tags-regex': '^v' });
    await kind.archive(scene, sha(1));
    scene.head = sha(1);
    await deliverPush(hook, [
      ['branch', 'main', sha(0), sha(1)],
      ['tag', 'v1', null, sha(1)],
      ['tag', 'v0', sha(0), null],
      ['branch', 'other', null, sha(5)],
    ]);
    await followed.settleAndFetch();
    const [, run] = await followed.runsOf(workspace);
    expect(run.ingress).toMatchObject({ commitSha: sha(1), senderUsername: 'jane' });
    const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
    expect(await getConfigurationVersion(run.configurationVersionId)).toMatchObject({
      status: 'uploaded',
      source: kind.source,
    });
    expect((await followed.commitsOf(tagged)).at(-1)).toBe(sha(1));
    const [gone] = await deliverPush(hook, [['tag', 'v0', sha(0), null]]);
    expect(gone?.body.ignored).toContain('deleted');
  });

  it('matches changed files on all pages, also by their former names', async () => {
    const { workspace, token, hook } = await connect({ 'trigger-patterns': ['a/old.tf'] });
    const other = await follow(token, { 'trigger-patterns': ['b/**'] });
    await deliverPush(hook, [['branch', 'main', sha(0), sha(1)]]);
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    expect(await followed.commitsOf(other)).toEqual([sha(0)]);
  });

  it('rejects deliveries of others and of another repository, and ignores other events', async () => {
    const { workspace, hook } = await connect();
    const [pushed] = kind.push(['branch', 'main', sha(0), sha(1)]);
    if (!pushed) throw new Error('no delivery');
    for (const wrong of kind.unsigned(scene)) expect((await deliver(hook, pushed, wrong)).status).toBe(401);
    expect((await deliver(hook, [pushed[0], { ...pushed[1], ...kind.elsewhere }])).status).toBe(401);
    expect((await deliver(hook, ['diagnostics:ping', { test: true }])).status).toBe(200);
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  });

  it('plans pull requests of its branches, and never those of forks', async () => {
    const { workspace, hook } = await connect();
    scene.pull = kind.pull(sha(1));
    await deliver(hook, kind.pullEvent('opened'));
    await followed.settle();
    scene.pull = kind.pull(sha(2));
    await deliver(hook, kind.pullEvent('pushed'));
    await followed.settle();
    for (const change of [{ fork: true }, { over: true }]) {
      scene.pull = kind.pull(sha(3), change);
      await deliver(hook, kind.pullEvent('pushed'));
      await followed.settle();
    }
    const runs = await followed.runsOf(workspace);
    expect(runs.map((run: Json) => [run.ingress.commitSha, run.planOnly])).toEqual([
      [sha(0), false],
      [sha(1), true],
      [sha(2), true],
    ]);
    expect(runs[1].cancel).toBeDefined();
  });

  it('gets a status of the commit and one comment', async () => {
    const { workspace, hook } = await connect();
    scene.pull = kind.pull(sha(1));
    await deliver(hook, kind.pullEvent('opened'));
    await followed.settle();
    const [, run] = await followed.runsOf(workspace);
    const { handler } = await import('#version-control/commit-status.ts');
    await handler({ runId: run.id });
    await handler({ runId: run.id });
    const [status] = forge.asked('POST', kind.statusPath(scene, sha(1)));
    expect(status?.body).toMatchObject(kind.pending);
    expect(scene.comments).toHaveLength(1);
    expect((await followed.messages()).join()).not.toContain('could not be posted');
  });

  it('reads commands in new comments only', async () => {
    const { hook } = await connect();
    scene.pull = kind.pull(sha(1));
    expect((await deliver(hook, kind.commentEvent(1, 'looks good'))).body.ignored).toContain('without a command');
    scene.comments.push(kind.edited('stepform plan'));
    expect((await deliver(hook, kind.commentEvent(1, 'stepform plan'))).status).toBe(202);
    await followed.settle();
    expect((await followed.messages())[0]).toContain('edited');
  });

  it('counts approvals of others, unless one asks for changes or everyone could approve', async () => {
    const { pullForges } = await import('#version-control/forges/pull-forges.ts');
    const { callerOf } = await import('#version-control/call.ts');
    const client = { apiUrl: `${forge.url}${kind.apiPath}`, serviceProvider: kind.provider, dialect: kind.dialect };
    const call = callerOf({ client: client as never, secret: 'good' });
    const { pull, isApproved } = pullForges[kind.dialect];
    const approved = async (...votes: Vote[]) => {
      scene.pull = kind.pull(sha(1), { votes });
      const one = await pull(call, scene.identifier, 7);
      return isApproved(call, scene.identifier, one as never);
    };
    const other = { uuid: '{x}', id: 3, name: 'x' };
    expect(await approved()).toBe(false);
    expect(await approved([jane, 'approved'])).toBe(false);
    expect(await approved([me, 'approved'], [other, 'changes'])).toBe(false);
    expect(await approved([me, 'approved'])).toBe(true);
    if (!kind.open) return;
    kind.open(scene);
    expect(await isApproved(call, scene.identifier, (await pull(call, scene.identifier, 7)) as never)).toBe(false);
  });
});

it("takes a Bitbucket user's API token with the e-mail address, and shows the words of a refusal", async () => {
  followed.reset();
  const basic = `Basic ${Buffer.from('me@example.com:good').toString('base64')}`;
  forge.tokens.add(basic);
  forge.on('GET', '/2.0/user', ({ authorization }) =>
    authorization === basic
      ? { body: me }
      : { status: 403, body: { type: 'error', error: { message: 'Your credentials lack one or more scopes' } } },
  );
  const given = (token: string) =>
    followed.api.post('organizations/acme/oauth-clients', {
      'service-provider': 'bitbucket_hosted',
      'http-url': forge.url,
      'api-url': forge.url,
      'oauth-token-string': token,
    });
  expect((await given('me@example.com:good')).status).toBe(201);
  const refused = await given('good');
  expect(detailOf(refused)).toEqual([422, expect.stringContaining('lack one or more')]);
});

it.each([
  ['other-org/acme/_git/infra', 'another organization'],
  ['acme/infra', 'no repository of Azure DevOps'],
])('an identifier of Azure DevOps is refused: %s', async (identifier) => {
  followed.reset();
  const scene = new Scene(forge, sha(0), azureDevops.between);
  azureDevops.answer(scene);
  const { azureDevops: ado } = await import('#version-control/forges/azure-devops/forge.ts');
  const { callerOf } = await import('#version-control/call.ts');
  const client = { apiUrl: `${forge.url}/acme-org`, serviceProvider: 'ado_services', dialect: 'azure-devops' };
  const call = callerOf({ client: client as never, secret: 'good' });
  const name = identifier.replace('infra', scene.identifier.split('/').at(-1) ?? '');
  expect(await ado.repository(call, name)).toBeUndefined();
  expect((await ado.repository(call, `acme-org/${scene.identifier}`))?.id).toBe('r-1');
  expect(() => ado.archiveUrl({ apiUrl: client.apiUrl, httpUrl: '' }, name, sha(1))).toThrow();
});
