import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { AppServer } from './support/app-server.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';
import { overhear } from './support/overhear.ts';
import { signature } from './support/signature.ts';

/** The GitHub App, with a server that answers like GitHub, and checks the app's signature and the scope of tokens. */

const followed = await Followed.start();
const app: AppServer = new AppServer(followed.forge);
let numbers = 500;
beforeEach(() => {
  const login = uniqueName('octo');
  followed.reset(`${login}/${uniqueName('infra')}`);
  app.installations = [
    { id: ++numbers, account: { id: 40 + numbers, login, type: 'Organization' }, repositories: [followed.identifier] },
  ];
  app.people = {
    admin: { id: 21, login: 'admin', sees: { [followed.identifier]: { admin: true } } },
    reader: { id: 22, login: 'reader', sees: { [followed.identifier]: { admin: false } } },
    stranger: { id: 23, login: 'stranger', sees: {} },
  };
  app.answer();
  process.env.GITHUB_APP = app.settings();
});

const ofOrganization = 'organizations/acme/github-app-installations';
const api = () => followed.api;

/** Like GitHub's page: the user authorizes, and their browser returns. */
const authorize = async (person: string, change: { cookie?: string; state?: string } = {}, token = api().token) => {
  const { handler } = await import('#public-api/version-control.ts');
  const { eventOf } = await import('#test/support/api.ts');
  const begun = (await handler(
    eventOf('POST', `/api/v2/${ofOrganization}/actions/authorize`, { token }),
    {} as never,
  )) as {
    body: string;
    cookies: string[];
  };
  const url = new URL(JSON.parse(begun.body).data.attributes['authorize-url']);
  const state = change.state ?? url.searchParams.get('state') ?? '';
  const query = new URLSearchParams({ code: person, state });
  const event = eventOf('GET', `/auth/github-app/callback?${query}`, { token: null });
  const cookies = [change.cookie ?? begun.cookies[0]?.split(';')[0] ?? ''];
  const back = (await handler({ ...event, cookies }, {} as never)) as Json;
  return { url, status: back.statusCode, location: back.headers.location };
};

const idOf = async (): Promise<string> => {
  const { installationIdOf } = await import('#version-control/github-app/installations.ts');
  return installationIdOf({ id: 77, apiUrl: followed.forge.url }, numbers);
};
const link = async (at = ofOrganization) => api().post(`${at}/${await idOf()}/link-account`);

const linked = async (): Promise<string> => {
  await authorize('admin');
  const { status, body } = await link();
  if (status !== 204) throw new Error(JSON.stringify(body));
  return idOf();
};

const connected = async (attributes: object = {}): Promise<{ workspace: Json; installation: string }> => {
  const installation = await linked();
  const workspace = await api().workspace({
    'queue-all-runs': true,
    ...attributes,
    'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': '', 'github-app-installation-id': installation },
  });
  await followed.settle();
  return { workspace, installation };
};

let deliveries = 0;
const deliver = (name: string, payload: object, headers: Record<string, string> = {}, secret = app.webhookSecret) => {
  const repository = { id: followed.repositoryId, full_name: followed.identifier, default_branch: 'main' };
  const sender = { login: 'octocat' };
  const body = JSON.stringify({ installation: { id: numbers }, repository, sender, ...payload });
  return api().call('POST', '/webhooks/github-app', {
    token: null,
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': name,
      'x-github-delivery': `app-${++deliveries}`,
      'x-github-hook-installation-target-id': '77',
      'x-hub-signature-256': signature(body, secret),
      ...headers,
    },
  });
};

const installationEvent = (action: string) =>
  deliver('installation', { action, installation: app.document(app.installations[0] as never) });

describe('linking', () => {
  it('requires the authorization of a user who administers every repository', async () => {
    expect((await link()).body.errors[0].detail).toContain('Authorize the GitHub App');
    const { url, status, location } = await authorize('admin');
    expect([url.pathname, url.searchParams.get('client_id'), url.searchParams.get('code_challenge_method')]).toEqual([
      '/login/oauth/authorize',
      'Iv1.app',
      'S256',
    ]);
    expect([status, location]).toEqual([303, '/app/acme/settings/version-control?authorized=github-app']);
    const before = (await api().get('github-app/installations')).body.data;
    const id = await idOf();
    expect(before.find((one: Json) => one.id === id)).toMatchObject({ attributes: { organization: null } });
    expect((await api().get(`github-app/installation/${id}`)).status).toBe(404);
    expect((await link()).status).toBe(204);
    const { login } = app.installations[0]?.account ?? { login: '' };
    const { body } = await api().get(`github-app/installation/${id}`);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^ghain-\w{16}$/),
      type: 'github-app-installations',
      attributes: {
        name: login,
        'installation-id': numbers,
        'icon-url': 'https://github.example/avatar',
        'installation-type': 'Organization',
        'installation-url': `${followed.forge.url}/settings/installations/${numbers}`,
      },
    });
    for (const path of [
      ofOrganization,
      `github-app/installations?filter[name]=${login}`,
      `github-app-installations?filter[installation_id]=${numbers}`,
    ]) {
      expect(
        (await api().get(path)).body.data.map((one: Json) => one.id),
        path,
      ).toContain(id);
    }
    expect((await api().get('github-app/installations?filter[name]=no-such-account')).body.data).toEqual([]);
  });

  it('lists repositories of the installation by page', async () => {
    const [one] = app.installations as [Json];
    const others = [1, 2].map((n) => `${one.account.login}/other-${n}`);
    one.repositories.push(...others);
    for (const name of others) (app.people.admin as Json).sees[name] = { admin: true };
    const id = await linked();
    for (const path of [`github-app-installations/${id}/repos`, `${ofOrganization}/${id}/repos`]) {
      const { body } = await api().get(`${path}?page[size]=2&page[number]=2`);
      expect(body.meta.pagination, path).toMatchObject({ 'total-count': 3, 'total-pages': 2 });
      expect(body.data).toEqual([
        {
          id: '1002',
          type: 'github-app-repos',
          attributes: { name: 'other-2', identifier: others[1], 'installation-id': String(numbers), private: true },
        },
      ]);
    }
    const seeing = app.issued.filter(({ repositories }) => !repositories);
    expect(seeing.length).toBeGreaterThan(0);
    expect(seeing.every(({ permissions }) => JSON.stringify(permissions) === '{"metadata":"read"}')).toBe(true);
  });

  it.each([
    ['a user with read access only', 'reader', 403, 'yours does not administer'],
    ['a user without access', 'stranger', 404, 'Installation not found'],
  ])('is refused for %s', async (_, person, status, words) => {
    await authorize(person);
    const answer = await link();
    expect(detailOf(answer)).toEqual([status, expect.stringContaining(words)]);
    expect((await api().get(`${ofOrganization}/${await idOf()}/repos`)).status).toBe(404);
  });

  it('is refused for a user who cannot see all of its repositories', async () => {
    app.installations[0]?.repositories.push(`${app.installations[0].account.login}/secret`);
    await authorize('admin');
    const answer = await link();
    expect(detailOf(answer)).toEqual([403, expect.stringContaining('does not see all')]);
  });

  it('is refused for a second organization until the first one unlinks it', async () => {
    const id = await linked();
    const name = uniqueName('other');
    await api().post('organizations', { name, email: 'other@acme.test' });
    const other = `organizations/${name}/github-app-installations`;
    expect((await link(other)).status).toBe(409);
    expect((await api().get(`${other}/${id}/repos`)).status).toBe(404);
    expect((await api().call('DELETE', `${other}/${id}`)).status).toBe(404);
    const workspace = { 'vcs-repo': { identifier: followed.identifier, 'github-app-installation-id': id } };
    const stolen = await api().post(`organizations/${name}/workspaces`, { name: 'theirs', ...workspace });
    expect(detailOf(stolen)).toEqual([422, expect.stringContaining('has not linked')]);
    expect((await api().call('DELETE', `${ofOrganization}/${id}`)).status).toBe(204);
    const { completeInstallationEnd } = await import('#version-control/complete-end.ts');
    await completeInstallationEnd(id);
    expect((await link(other)).status).toBe(204);
  });

  it.each([
    ['another state', { state: 'guessed' }],
    ['the cookie of another browser', { cookie: '__Host-connect=other' }],
  ])('rejects an authorization with %s', async (_, change) => {
    const { status } = await authorize('admin', change);
    expect(status).toBe(400);
  });

  it('does not accept an authorization of a connection, and accepts each once', async () => {
    const made = await api().post('organizations/acme/oauth-clients', {
      'service-provider': 'github',
      'http-url': followed.forge.url,
      'api-url': followed.forge.url,
      key: 'k',
      secret: 's',
    });
    const { handler } = await import('#public-api/version-control.ts');
    const { eventOf } = await import('#test/support/api.ts');
    const begun = (await handler(
      eventOf('POST', `/api/v2/oauth-clients/${made.body.data.id}/actions/connect`, { token: api().token }),
      {} as never,
    )) as Json;
    const state = new URL(JSON.parse(begun.body).data.attributes['authorize-url']).searchParams.get('state');
    const event = eventOf('GET', `/auth/github-app/callback?code=admin&state=${state}`, { token: null });
    const cookies = [begun.cookies[0].split(';')[0]];
    expect(((await handler({ ...event, cookies }, {} as never)) as Json).statusCode).toBe(400);
  });

  it('requires a user: tokens of organizations and teams cannot authorize or link', async () => {
    const { body } = await api().post('organizations/acme/authentication-token');
    const token = body.data.attributes.token;
    for (const path of [`${ofOrganization}/actions/authorize`, `${ofOrganization}/${await idOf()}/link-account`]) {
      expect((await api().call('POST', `/api/v2/${path}`, { token })).status, path).toBe(403);
    }
    const member = await (await memberHelpers()).member('acme');
    const path = `/api/v2/${ofOrganization}/${await idOf()}/link-account`;
    expect((await api().call('POST', path, { token: member.token })).status).toBe(403);
  });

  it('shows users only their own authorization, and never its token', async () => {
    await authorize('admin');
    const { body } = await api().get(`users/${api().userId}/github-app-oauth-tokens`);
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^ghaot-/),
        type: 'github-app-oauth-tokens',
        attributes: { 'created-at': expect.any(String), 'github-username': 'admin' },
        relationships: { user: { data: { id: api().userId, type: 'users' } } },
      },
    ]);
    expect((await api().get('users/user-somebodyelse000/github-app-oauth-tokens')).status).toBe(403);
    const { get } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    expect(JSON.stringify([body, await get(keys.appAuthorization(api().userId))])).not.toContain('ghu_');
  });
});

describe('a workspace', () => {
  it('follows a repository without its own webhook, and shows its connection', async () => {
    const { workspace, installation } = await connected();
    expect(workspace.attributes['vcs-repo']).toMatchObject({
      identifier: followed.identifier,
      'github-app-installation-id': installation,
      'oauth-token-id': null,
      'service-provider': 'github_app',
      'webhook-url': null,
    });
    expect(followed.forge.asked('POST', /\/hooks$/)).toEqual([]);
    expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  });

  it('runs pushes with a token for its repository only', async () => {
    const { workspace } = await connected();
    const { status } = await deliver('push', push(0, 1));
    expect(status).toBe(202);
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    const [name] = followed.identifier.split('/').slice(1);
    const ofRepository = app.issued.filter(({ repositories }) => repositories);
    expect(ofRepository).toEqual([
      {
        token: expect.any(String),
        installation: numbers,
        repositories: [name],
        permissions: { contents: 'read', metadata: 'read', pull_requests: 'write', statuses: 'write' },
      },
    ]);
  });

  it('cannot connect to repositories outside of the installation', async () => {
    const installation = await linked();
    const other = `${followed.identifier}-other`;
    const [, name] = followed.identifier.split('/');
    for (const identifier of [other, `another-owner/${name}`]) {
      const { status, body } = await api().post('organizations/acme/workspaces', {
        name: uniqueName('astray'),
        'vcs-repo': { identifier, 'github-app-installation-id': installation },
      });
      expect([status, body.errors[0].detail]).toEqual([
        422,
        expect.stringContaining("Repository doesn't exist or isn't accessible."),
      ]);
    }
  });

  it('fetches with the token of its repository, and submodules with theirs', async () => {
    const { workspace } = await connected();
    await followed.has({ 'main.tf': '# 1' });
    await deliver('push', push(0, 1));
    await followed.settleAndFetch();
    const runs = await followed.runsOf(workspace);
    const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
    expect((await getConfigurationVersion(runs[1].configurationVersionId))?.status).toBe('uploaded');
    expect(followed.forge.asked('GET', /tarball/)[0]?.authorization).toMatch(/^Bearer ghs_/);
  });

  it('is disconnected when the organization unlinks the installation', async () => {
    const { workspace, installation } = await connected();
    expect((await api().call('DELETE', `/api/v2/${ofOrganization}/${installation}`)).status).toBe(204);
    expect((await api().get(`github-app/installation/${installation}`)).status).toBe(404);
    const { completeInstallationEnd } = await import('#version-control/complete-end.ts');
    await completeInstallationEnd(installation);
    expect((await api().get(`workspaces/${workspace.id}`)).body.data.attributes['vcs-repo']).toBeNull();
    const { body } = await deliver('push', push(0, 1));
    expect(body.ignored).toContain('no organization has linked');
  });
});

it('serves policy sets and modules of the registry', async () => {
  const installation = await linked();
  const repo = { identifier: followed.identifier, 'github-app-installation-id': installation };
  const set = await api().post('organizations/acme/policy-sets', {
    name: uniqueName('set'),
    kind: 'opa',
    'vcs-repo': { ...repo, branch: 'main' },
  });
  expect([set.status, set.body.data.attributes['vcs-repo']['github-app-installation-id']]).toEqual([201, installation]);
  followed.forge.on('GET', `/repos/${followed.identifier}/tags`, { body: [] });
  for (const [path, name] of [
    ['organizations/acme/registry-modules/vcs', 'one'],
    ['registry-modules', 'two'],
  ] as const) {
    const made = await api().post(path, { name, provider: uniqueName('p').replace('-', ''), 'vcs-repo': repo });
    expect([made.status, made.body.data.attributes['vcs-repo']['github-app-installation-id']]).toEqual([
      201,
      installation,
    ]);
  }
  await followed.settle();
  expect(followed.forge.asked('POST', /\/hooks$/)).toEqual([]);
});

describe('the webhook', () => {
  it.each([
    ['with another secret', {}, 'other'],
    ['without a signature', { 'x-hub-signature-256': '' }, undefined],
    ['that was sent for another app', { 'x-github-hook-installation-target-id': '78' }, undefined],
  ])('rejects a delivery %s', async (_, headers, secret) => {
    const { workspace } = await connected();
    expect((await deliver('push', push(0, 1), headers, secret)).status).toBe(401);
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  });

  it('rejects an installation event of another app', async () => {
    await connected();
    const of = app.document(app.installations[0] as never);
    expect((await deliver('installation', { action: 'deleted', installation: { ...of, app_id: 78 } })).status).toBe(
      401,
    );
  });

  it('is the only one: the repository has no address of its own', async () => {
    const { workspace } = await connected();
    const { getRepository } = await import('#version-control/repositories.ts');
    const { getWorkspace } = await import('#resources/workspaces/records.ts');
    const id = (await getWorkspace(workspace.id))?.vcsRepo?.repository ?? '';
    const uuid = (await getRepository(id))?.uuid;
    expect((await followed.deliver(`/webhooks/vcs/${uuid}`, 'push', push(0, 1))).status).toBe(404);
  });

  it.each([
    ['of an installation that is not linked', { installation: { id: 4 } }, 'no organization has linked'],
    ['of a repository that nothing follows', { repository: { id: 9, full_name: 'a/b' } }, 'no workspace'],
    ['without an installation', { installation: undefined }, 'without an installation'],
  ])('ignores a delivery %s', async (_, change, words) => {
    await connected();
    const { status, body } = await deliver('push', { ...push(0, 1), ...change });
    expect([status, body.ignored]).toEqual([200, expect.stringContaining(words)]);
  });

  it('ignores another repository of the same name, and accepts each delivery once', async () => {
    const { workspace } = await connected();
    const repository = { id: 31337, full_name: followed.identifier, default_branch: 'main' };
    expect((await deliver('push', { ...push(0, 1), repository })).body.ignored).toContain('another repository');
    for (let i = 0; i < 3; i++) await deliver('push', push(0, 1), { 'x-github-delivery': 'the-same' });
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
  });
});

describe('installations at GitHub', () => {
  it('that are suspended start nothing and report it, until they are resumed', async () => {
    const { workspace, installation } = await connected();
    expect((await installationEvent('suspend')).status).toBe(202);
    const shown = async () => (await api().get(`github-app/installation/${installation}`)).body.data.attributes;
    expect(await shown()).toMatchObject({ 'error-message': 'suspended' });
    await deliver('push', push(0, 1));
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
    expect((await followed.messages()).join()).toMatch(/was suspended: workspaces that follow/);
    expect((await followed.messages()).join()).toMatch(/is suspended at GitHub/);
    await installationEvent('unsuspend');
    expect(await shown()).toMatchObject({ 'error-message': null });
    followed.head = sha(2);
    await deliver('push', push(1, 2));
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(2)]);
    expect((await api().get(`workspaces/${workspace.id}`)).body.data.attributes['vcs-repo']).not.toBeNull();
  });

  it('that were uninstalled report it, with or without the webhook', async () => {
    const { workspace, installation } = await connected();
    await installationEvent('deleted');
    expect((await followed.messages())[0]).toContain('was uninstalled');
    const check = () => api().post(`workspaces/${workspace.id}/actions/fetch-latest-from-vcs`);
    await check();
    await followed.settle();
    expect((await followed.messages())[0]).toContain('was uninstalled from');
    const { noteInstallation } = await import('#version-control/github-app/installations.ts');
    const { keys } = await import('#platform/store/keys.ts');
    const { queryAll, remove } = await import('#platform/store/table.ts');
    await noteInstallation(installation, { uninstalledAt: undefined });
    const tokens = await queryAll<{ pk: string; sk: string }>({
      pk: keys.installation(installation).pk,
      prefix: 'TOKEN#',
    });
    for (const { pk, sk } of tokens) await remove({ pk, sk });
    (app.installations[0] as Json).gone = true;
    await check();
    await followed.settle();
    const { body } = await api().get(`github-app/installation/${installation}`);
    expect(body.data.attributes['error-message']).toBe('uninstalled');
  });

  it('that lose a repository report it if something follows it', async () => {
    const { installation } = await connected();
    const removed = [{ full_name: followed.identifier }, { full_name: 'octo/not-followed' }];
    const of = app.document(app.installations[0] as never);
    await deliver('installation_repositories', { action: 'removed', installation: of, repositories_removed: removed });
    const { body } = await api().get('organizations/acme/vcs-events');
    const [event] = body.data;
    expect(event.attributes).toMatchObject({ level: 'error' });
    expect(event.attributes.message).toContain(`${followed.identifier} was taken out`);
    expect(event.relationships).toMatchObject({
      'oauth-client': { data: null },
      'github-app-installation': { data: { id: installation, type: 'github-app-installations' } },
    });
    expect(JSON.stringify(body.data)).not.toContain('octo/not-followed');
  });
});

describe('merge queues', () => {
  const group = (n: number) => ({
    action: 'checks_requested',
    merge_group: { base_ref: 'refs/heads/main', base_sha: sha(0), head_sha: sha(n) },
  });

  it('get a plan of the merge group and its status', async () => {
    const { workspace } = await connected();
    expect((await deliver('merge_group', group(5))).status).toBe(202);
    await followed.settle();
    const runs = await followed.runsOf(workspace);
    expect(runs.map((run: Json) => [run.ingress.commitSha, run.planOnly])).toEqual([
      [sha(0), false],
      [sha(5), true],
    ]);
    await deliver('merge_group', group(5), { 'x-github-delivery': 'again' });
    await followed.settle();
    expect(await followed.runsOf(workspace)).toHaveLength(2);
    const { handler } = await import('#version-control/commit-status.ts');
    await handler({ runId: runs[1].id });
    const [status] = followed.forge.asked('POST', new RegExp(`/statuses/${sha(5)}$`));
    expect(status?.body).toMatchObject({ state: 'pending', context: 'stepform/acme' });
  });

  it('pass if they concern no workspace, and ignore destroyed groups', async () => {
    await connected({ 'working-directory': 'elsewhere' });
    await deliver('merge_group', group(6));
    await followed.settle();
    const [status] = followed.forge.asked('POST', new RegExp(`/statuses/${sha(6)}$`));
    expect(status?.body).toMatchObject({ state: 'success' });
    expect((await deliver('merge_group', { ...group(6), action: 'destroyed' })).body.ignored).toContain('destroyed');
  });
});

it('comments are attributed to the user who authorized the app with the account', async () => {
  const { workspace } = await connected();
  followed.pull = followed.request(3);
  await deliver('pull_request', { action: 'opened', number: 7 });
  await followed.settle();
  const at = new Date().toISOString();
  const issue_url = `${followed.forge.url}/repos/${followed.identifier}/issues/7`;
  const say = async (id: number, user: object) => {
    const comment = { id, body: 'stepform plan', user, created_at: at, updated_at: at, issue_url };
    followed.comments.push(comment);
    await deliver('issue_comment', { action: 'created', issue: { number: 7, pull_request: {} }, comment });
    await followed.settle();
  };
  await say(1, { id: 22, login: 'reader' });
  expect((await followed.messages())[0]).toContain('has not linked an account');
  await say(2, { id: 21, login: 'admin' });
  expect((await followed.messages())[0]).toContain('Queued 1 speculative plan');
  expect(await followed.runsOf(workspace)).toHaveLength(3);
});

it('the platform shows and requests nothing without an app', async () => {
  const id = await linked();
  delete process.env.GITHUB_APP;
  followed.forge.calls.length = 0;
  for (const path of ['github-app/installations', 'github-app-installations', ofOrganization]) {
    expect((await api().get(path)).body.data, path).toEqual([]);
  }
  expect((await api().post(`${ofOrganization}/actions/authorize`)).status).toBe(404);
  expect((await api().post(`${ofOrganization}/${id}/link-account`)).status).toBe(404);
  expect((await deliver('push', push(0, 1))).status).toBe(404);
  expect(followed.forge.calls).toEqual([]);
});

it('tokens and secrets stay out of the table, events, executions, logs and responses', async () => {
  const heard = overhear(api().aws);
  const { workspace, installation } = await connected();
  await followed.has({ 'main.tf': '# 1' });
  await deliver('push', push(0, 1));
  await followed.settleAndFetch();
  const { handler } = await import('#version-control/commit-status.ts');
  for (const run of await followed.runsOf(workspace)) await handler({ runId: run.id });
  followed.forge.on('GET', /\/branches\//, ({ authorization }) => ({ status: 500, body: { message: authorization } }));
  await api().post(`workspaces/${workspace.id}/actions/fetch-latest-from-vcs`);
  heard.stop();
  const paths = [`workspaces/${workspace.id}`, `github-app/installation/${installation}`, 'github-app/installations'];
  const answers = await Promise.all([...paths, 'organizations/acme/vcs-events'].map((path) => api().get(path)));
  const all = `${heard.text()}${JSON.stringify(answers)}`;
  expect(all).toContain(followed.identifier);
  for (const secret of ['ghs_x', 'ghu_', app.webhookSecret, app.clientSecret, 'PRIVATE KEY']) {
    expect(all, secret).not.toContain(secret);
  }
});
