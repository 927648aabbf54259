import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf, uniqueName } from '#test/support/api.ts';
import { archive } from '#test/support/policies.ts';
import { Followed, type Json, sha } from './support/followed.ts';

/** GitLab, with a server that answers like it: paths with encoded identifiers, tokens of webhooks, merge requests. */

const followed = await Followed.start();

let identifier: string;
let base: string;
let hookToken: string;
let head: string;
let merge: Json;
let notes: Json[];
beforeEach(() => {
  followed.reset();
  const { forge } = followed;
  identifier = `group/sub/${uniqueName('infra')}`;
  base = `/projects/${encodeURIComponent(identifier)}`;
  head = sha(0);
  notes = [];
  const project = {
    id: 15,
    path_with_namespace: identifier,
    default_branch: 'main',
    web_url: `${forge.url}/${identifier}`,
    http_url_to_repo: `${forge.url}/${identifier}.git`,
    permissions: { project_access: null, group_access: { access_level: 40 } },
  };
  forge.on('GET', '/projects', { body: [project] });
  forge.on('GET', base, { body: project });
  forge.on('GET', `${base}/repository/branches/main`, () => ({ body: { commit: { id: head } } }));
  forge.on('GET', new RegExp(`^${base}/repository/commits/`), ({ path }) => ({
    body: { id: path.split('/').at(-1), message: 'A commit', web_url: 'https://gitlab.example/c', author_name: 'J' },
  }));
  forge.on('GET', `${base}/hooks`, { body: [] });
  forge.on('POST', `${base}/hooks`, ({ body }) => {
    hookToken = body.token;
    return { status: 201, body: { id: 9, url: body.url } };
  });
  forge.on('DELETE', `${base}/hooks/9`, { status: 204 });
  forge.on('GET', `${base}/repository/compare`, {
    body: { diffs: [{ old_path: 'a/old.tf', new_path: 'a/main.tf' }], compare_timeout: false },
  });
  forge.on('GET', `${base}/merge_requests/7`, () => ({ body: merge }));
  forge.on('GET', `${base}/merge_requests/7/diffs`, { body: [{ old_path: 'a/main.tf', new_path: 'a/main.tf' }] });
  forge.on('POST', new RegExp(`^${base}/statuses/`), { status: 201, body: {} });
  forge.on('GET', `${base}/merge_requests/7/notes`, () => ({ body: notes }));
  forge.on('POST', `${base}/merge_requests/7/notes`, ({ body }) => {
    const note = { id: 70 + notes.length, body: body.body, author: { id: 7, username: 'octocat' } };
    notes.push(note);
    return { status: 201, body: note };
  });
  forge.on('PUT', new RegExp(`^${base}/merge_requests/7/notes/\\d+$`), ({ path, body }) => {
    const note = notes.find(({ id }) => path.endsWith(`/${id}`));
    note.body = body.body;
    return { body: note };
  });
});

const connect = async (attributes: object = {}, repo: object = {}) => {
  const { url } = followed.forge;
  const { body } = await followed.api.post('organizations/acme/oauth-clients', {
    'service-provider': 'gitlab_community_edition',
    'http-url': url,
    'api-url': url,
    'oauth-token-string': 'good',
  });
  const token = body.data.relationships['oauth-tokens'].data[0].id;
  const workspace = await followed.api.workspace({
    'queue-all-runs': true,
    ...attributes,
    'vcs-repo': { identifier, 'oauth-token-id': token, ...repo },
  });
  await followed.settle();
  return { workspace, token, hook: new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname };
};

let deliveries = 0;
const deliver = (hook: string, kind: string, payload: object, headers: Record<string, string> = {}) =>
  followed.api.call('POST', hook, {
    token: null,
    body: JSON.stringify({
      project: { id: 15, default_branch: 'main', web_url: `${followed.forge.url}/${identifier}` },
      user_username: 'jsmith',
      ...payload,
    }),
    headers: {
      'content-type': 'application/json',
      'x-gitlab-event': kind,
      'x-gitlab-token': hookToken,
      'idempotency-key': `gitlab-${++deliveries}`,
      ...headers,
    },
  });

const pushed = (from: number, to: number, ref = 'refs/heads/main') => ({
  object_kind: 'push',
  ref,
  before: sha(from),
  after: sha(to),
  checkout_sha: sha(to),
});

const mergeRequest = (n: number, change: object = {}) => ({
  iid: 7,
  state: 'opened',
  title: 'Change it',
  description: null,
  web_url: 'https://gitlab.example/mr/7',
  sha: sha(n),
  source_branch: 'feature',
  target_branch: 'main',
  source_project_id: 15,
  target_project_id: 15,
  author: { username: 'jsmith', avatar_url: null },
  ...change,
});
const mergeEvent = (action: string, change: object = {}, more: object = {}) => ({
  object_kind: 'merge_request',
  user: { username: 'jsmith' },
  object_attributes: { iid: 7, action, target_branch: 'main', ...change },
  ...more,
});

it('connecting creates a webhook for pushes, tags, merge requests and notes; the last follower deletes it', async () => {
  const { workspace } = await connect();
  const [made] = followed.forge.asked('POST', `${base}/hooks`);
  expect(made?.body).toMatchObject({
    push_events: true,
    tag_push_events: true,
    merge_requests_events: true,
    note_events: true,
    enable_ssl_verification: true,
  });
  expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
  const { handler } = await import('#lifecycle/creation/version-control-event.ts');
  const { repositoryId } = await import('#version-control/repositories.ts');
  const { oauthTokenId } = { oauthTokenId: workspace.attributes['vcs-repo']['oauth-token-id'] };
  const { keys } = await import('#platform/store/keys.ts');
  await handler({ due: keys.repository(repositoryId(oauthTokenId, identifier)) });
  expect(followed.forge.asked('DELETE', `${base}/hooks/9`)).toHaveLength(1);
});

it('a connection lists repositories whose webhooks the account may create, and rejects others', async () => {
  const { token } = await connect();
  const { body } = await followed.api.get(`oauth-tokens/${token}/authorized-repos`);
  expect(body.data[0].id).toBe(identifier);
  const [asked] = followed.forge.asked('GET', '/projects');
  expect(asked?.query.get('min_access_level')).toBe('40');
  followed.forge.on('GET', base, {
    body: { id: 15, path_with_namespace: identifier, permissions: { project_access: { access_level: 30 } } },
  });
  const refused = await followed.api.post('organizations/acme/workspaces', {
    name: uniqueName('refused'),
    'vcs-repo': { identifier, 'oauth-token-id': token },
  });
  expect(detailOf(refused)).toEqual([422, expect.stringContaining('admin access')]);
});

describe('pushes', () => {
  it('queue a run with the commit, fetched from the archive', async () => {
    const { workspace, hook } = await connect();
    const body = await archive({ 'infra-1/main.tf': '# 1' });
    followed.forge.on('GET', `${base}/repository/archive.tar.gz`, { body });
    expect((await deliver(hook, 'Push Hook', pushed(0, 1))).status).toBe(202);
    await followed.settleAndFetch();
    const [, run] = await followed.runsOf(workspace);
    expect(run.ingress).toMatchObject({
      commitSha: sha(1),
      identifier,
      senderUsername: 'jsmith',
      senderHtmlUrl: `${followed.forge.url}/jsmith`,
    });
    const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
    expect(await getConfigurationVersion(run.configurationVersionId)).toMatchObject({
      status: 'uploaded',
      source: 'gitlab',
    });
    const fetched = followed.forge.asked('GET', `${base}/repository/archive.tar.gz`);
    expect(fetched.map(({ query }) => query.get('sha'))).toContain(sha(1));
  });

  it('match changed files, also by their old names', async () => {
    const { workspace, hook } = await connect({ 'trigger-patterns': ['a/old.tf'] });
    const other = await followed.api.workspace({
      'queue-all-runs': true,
      'trigger-patterns': ['b/**'],
      'vcs-repo': { identifier, 'oauth-token-id': workspace.attributes['vcs-repo']['oauth-token-id'] },
    });
    await followed.settle();
    await deliver(hook, 'Push Hook', pushed(0, 1));
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    expect(await followed.commitsOf(other)).toEqual([sha(0)]);
    const [compared] = followed.forge.asked('GET', `${base}/repository/compare`);
    expect(Object.fromEntries(compared?.query ?? [])).toEqual({ from: sha(0), to: sha(1), straight: 'true' });
  });

  it('of tags run their commits', async () => {
    const { workspace, hook } = await connect({}, { 'tags-regex': '^v' });
    const tag = { ...pushed(0, 3, 'refs/tags/v1.0.0'), object_kind: 'tag_push', checkout_sha: sha(2) };
    expect((await deliver(hook, 'Tag Push Hook', tag)).status).toBe(202);
    await followed.settle();
    expect((await followed.commitsOf(workspace)).at(-1)).toBe(sha(2));
    const gone = { ...tag, after: '0'.repeat(40), checkout_sha: null };
    expect((await deliver(hook, 'Tag Push Hook', gone)).status).toBe(200);
  });

  it('that are repeated run once; a wrong token is rejected, irrelevant events are accepted', async () => {
    const { workspace, hook } = await connect();
    for (let i = 0; i < 3; i++) await deliver(hook, 'Push Hook', pushed(0, 1), { 'idempotency-key': 'same' });
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    for (const headers of [{ 'x-gitlab-token': 'wrong' }, { 'x-gitlab-token': '' }]) {
      expect((await deliver(hook, 'Push Hook', pushed(1, 2), headers)).status).toBe(401);
    }
    // GitLab disables a webhook after errors.
    for (const kind of ['Issue Hook', 'Pipeline Hook', 'Job Hook', 'Wiki Page Hook', 'System Hook']) {
      expect((await deliver(hook, kind, {})).status, kind).toBe(200);
    }
    const elsewhere = { project: { id: 16, default_branch: 'main', web_url: '' } };
    expect((await deliver(hook, 'Push Hook', { ...pushed(1, 2), ...elsewhere })).status).toBe(401);
  });
});

describe('merge requests', () => {
  it('are planned when they are opened, pushed to and retargeted, and not for a label', async () => {
    const { workspace, hook } = await connect();
    merge = mergeRequest(1);
    await deliver(hook, 'Merge Request Hook', mergeEvent('open'));
    await followed.settle();
    const label = await deliver(hook, 'Merge Request Hook', mergeEvent('update', {}, { changes: { labels: {} } }));
    expect([label.status, label.body.ignored]).toEqual([200, expect.stringContaining('update')]);
    merge = mergeRequest(2);
    await deliver(hook, 'Merge Request Hook', mergeEvent('update', { oldrev: sha(1) }));
    await followed.settle();
    const runs = await followed.runsOf(workspace);
    expect(runs.map((run: Json) => [run.ingress.commitSha, run.planOnly])).toEqual([
      [sha(0), false],
      [sha(1), true],
      [sha(2), true],
    ]);
    expect([runs[1].cancel !== undefined, runs[2].cancel]).toEqual([true, undefined]);
    merge = mergeRequest(2, { target_branch: 'elsewhere' });
    await deliver(hook, 'Merge Request Hook', mergeEvent('update', {}, { changes: { target_branch: {} } }));
    await followed.settle();
    expect((await followed.messages())[0]).toContain('affects none of the 0 workspaces');
  });

  it('of forks, or closed, are not planned', async () => {
    const { workspace, hook } = await connect();
    merge = mergeRequest(1, { source_project_id: 99 });
    await deliver(hook, 'Merge Request Hook', mergeEvent('open'));
    merge = mergeRequest(1, { state: 'merged' });
    await deliver(hook, 'Merge Request Hook', mergeEvent('merge'));
    await followed.settle();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0)]);
  });

  it('get a status of their commit and one note, which is edited', async () => {
    const { workspace, hook } = await connect();
    merge = mergeRequest(1);
    await deliver(hook, 'Merge Request Hook', mergeEvent('open'));
    await followed.settle();
    const [, run] = await followed.runsOf(workspace);
    const { handler } = await import('#version-control/commit-status.ts');
    await handler({ runId: run.id });
    const [status] = followed.forge.asked('POST', `${base}/statuses/${sha(1)}`);
    expect(status?.body).toMatchObject({ state: 'running', name: 'stepform/acme', target_url: expect.any(String) });
    expect(notes).toHaveLength(1);
    // The commit already has that state.
    followed.forge.on('POST', `${base}/statuses/${sha(1)}`, {
      status: 400,
      body: { message: 'Cannot transition status via :run from :running' },
    });
    const { updateRun } = await import('#resources/runs/records.ts');
    await updateRun(run.id, { set: { status: 'errored' } } as never);
    await handler({ runId: run.id });
    expect(followed.forge.asked('POST', `${base}/statuses/${sha(1)}`).length).toBeGreaterThan(1);
    expect(notes).toHaveLength(1);
    expect((await followed.messages()).join()).not.toContain('could not be posted');
  });
});
