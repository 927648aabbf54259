import { beforeEach, describe, expect, it } from 'vitest';
import { detailOf, uniqueName } from '#test/support/api.ts';
import { policyFiles, uploadVersion } from '#test/support/policies.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';

/** Policy sets that follow a repository, with a server that answers like GitHub. */

const followed = await Followed.start();
const { api, forge } = followed;
beforeEach(() => followed.reset());

const inFolder = (folder: string, rule = 'deny := []') =>
  Object.fromEntries(Object.entries(policyFiles(rule)).map(([name, text]) => [`${folder}/${name}`, text]));

const ask = (token: string, attributes: object = {}, repo: object = {}, relationships: object = {}) =>
  api.post(
    'organizations/acme/policy-sets',
    {
      name: uniqueName('set'),
      kind: 'opa',
      'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token, ...repo },
      ...attributes,
    },
    relationships,
  );

const create = async (attributes: object = {}, repo: object = {}) => {
  const { client, token } = await followed.connection();
  const { status, body } = await ask(token, attributes, repo);
  expect([status, body.errors]).toEqual([201, undefined]);
  return { client, token, set: body.data, hook: new URL(body.data.attributes['vcs-repo']['webhook-url']).pathname };
};

const read = async (id: string) => (await api.get(`policy-sets/${id}`)).body.data;
const versionsOf = async (id: string): Promise<Json[]> => (await api.get(`policy-sets/${id}/versions`)).body.data;
const commitsOf = async (id: string) =>
  (await versionsOf(id)).map(({ attributes }) => [
    Number.parseInt(attributes['ingress-attributes']['commit-sha'].slice(-3), 16) & 0xf,
    attributes.status,
  ]);
const currentOf = async (id: string) => (await read(id)).relationships['current-version'].data?.id;

it('a policy set gets a version of the branch on creation, which is ready once fetched', async () => {
  await followed.has(inFolder('policies/net'));
  const { set, token } = await create({ 'policies-path': '/policies/net' }, { branch: 'main' });
  expect(set.attributes).toMatchObject({
    versioned: true,
    'policies-path': '/policies/net',
    'vcs-repo': {
      identifier: followed.identifier,
      'display-identifier': followed.identifier,
      branch: 'main',
      'oauth-token-id': token,
      'service-provider': 'github',
      'ingress-submodules': false,
    },
  });
  const [version] = await versionsOf(set.id);
  expect(set.relationships['newest-version'].data.id).toBe(version.id);
  expect(version.attributes).toMatchObject({
    source: 'github',
    status: 'ingressing',
    'ingress-attributes': { 'commit-sha': sha(0), identifier: followed.identifier, 'commit-url': expect.any(String) },
  });
  await followed.settleAndFetch();
  expect(await currentOf(set.id)).toBe(version.id);
  expect((await read(set.id)).attributes['policy-count']).toBe(1);
  expect(forge.asked('GET', /\/tarball\//).length).toBe(1);
});

it('a policy set gets a version for a push below its path, and none for others', async () => {
  await followed.has(inFolder('a'));
  const { set, hook } = await create({ 'policies-path': 'a' });
  await followed.settleAndFetch();
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  expect(await commitsOf(set.id)).toEqual([
    [1, 'ready'],
    [0, 'ready'],
  ]);
  forge.on('GET', /\/compare\//, { body: { files: [{ filename: 'ab/main.tf' }], behind_by: 0 } });
  await followed.deliver(hook, 'push', push(1, 2));
  await followed.settleAndFetch();
  expect((await commitsOf(set.id)).length).toBe(2);
  expect(await followed.messages()).toContainEqual(expect.stringMatching(/no changed file affects/));
});

it('a policy set uses policy-update-patterns instead of the path', async () => {
  await followed.has(inFolder('a'));
  const { set, hook } = await create({ 'policies-path': 'a', 'policy-update-patterns': ['modules/**/*.rego'] });
  await followed.settleAndFetch();
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  expect((await commitsOf(set.id)).length).toBe(1);
  forge.on('GET', /\/compare\//, { body: { files: [{ filename: 'modules/x/y.rego' }], behind_by: 0 } });
  await followed.deliver(hook, 'push', push(1, 2));
  await followed.settleAndFetch();
  expect((await commitsOf(set.id))[0]).toEqual([2, 'ready']);
});

it('a policy set keeps the former version while a broken one is the newest', async () => {
  await followed.has(policyFiles('deny := []'));
  const { set, hook } = await create();
  await followed.settleAndFetch();
  const before = await currentOf(set.id);
  await followed.has({ 'README.md': 'no policies' });
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  const [newest] = await versionsOf(set.id);
  expect(newest.attributes).toMatchObject({
    status: 'errored',
    'error-message': expect.stringMatching('policies.hcl'),
  });
  expect(await currentOf(set.id)).toBe(before);
});

it('a policy set does not return to an older commit whose fetch ends later', async () => {
  await followed.has(policyFiles('deny := []'));
  const { set, hook } = await create();
  await followed.settleAndFetch();
  const { handler } = await import('#lifecycle/creation/fetch-commit.ts');
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.deliver(hook, 'push', push(1, 2));
  const fetches: Json[] = [];
  const events = await import('#lifecycle/creation/version-control-event.ts');
  for (let next = api.aws.invoked.shift(); next; next = api.aws.invoked.shift()) {
    if (next.name === 'VersionControlEventFunction') await events.handler(next.event as never);
    if (next.name === 'FetchCommitFunction') fetches.push(next.event);
  }
  for (const event of fetches.reverse()) await handler(event);
  const [newest] = await versionsOf(set.id);
  expect(newest.attributes['ingress-attributes']['commit-sha']).toBe(sha(2));
  expect(await currentOf(set.id)).toBe(newest.id);
  expect((await versionsOf(set.id)).every(({ attributes }) => attributes.status === 'ready')).toBe(true);
});

it('a policy set gets one version for a push that is delivered three times', async () => {
  await followed.has(policyFiles('deny := []'));
  const { set, hook } = await create();
  await followed.settleAndFetch();
  for (let i = 0; i < 3; i++) await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  expect((await commitsOf(set.id)).length).toBe(2);
  expect(forge.asked('GET', /\/tarball\//).length).toBe(2);
});

it('one push is fetched once for a workspace and a policy set', async () => {
  await followed.has(policyFiles('deny := []'));
  const { set, hook, token } = await create();
  const { workspace } = await followed.follow(token);
  await followed.settleAndFetch();
  forge.calls.length = 0;
  await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  expect((await commitsOf(set.id))[0]).toEqual([1, 'ready']);
  expect((await followed.commitsOf(workspace)).at(-1)).toBe(sha(1));
  expect(forge.asked('GET', /\/tarball\//).length).toBe(1);
});

it('a policy set gets a version after a change of branch or path, and none once disconnected', async () => {
  await followed.has({ ...inFolder('a'), ...inFolder('b') });
  const { set, hook } = await create({ 'policies-path': 'a' });
  await followed.settleAndFetch();
  await api.patch(`policy-sets/${set.id}`, { 'policies-path': 'b' });
  await followed.settleAndFetch();
  expect(await commitsOf(set.id)).toEqual([
    [0, 'ready'],
    [0, 'ready'],
  ]);
  expect(await currentOf(set.id)).toBe((await versionsOf(set.id))[0].id);
  await api.patch(`policy-sets/${set.id}`, { 'vcs-repo': null });
  expect((await read(set.id)).attributes['vcs-repo']).toBeNull();
  const answer = await followed.deliver(hook, 'push', push(0, 1));
  await followed.settleAndFetch();
  expect([answer.status, (await commitsOf(set.id)).length]).toEqual([404, 2]);
});

it('a policy set disconnects from the repository when it or its connection is deleted', async () => {
  await followed.has(policyFiles('deny := []'));
  const first = await create();
  await followed.settleAndFetch();
  await api.call('DELETE', `/api/v2/policy-sets/${first.set.id}`);
  expect((await followed.deliver(first.hook, 'push', push(0, 1))).status).toBe(404);
  const second = await create();
  await followed.settleAndFetch();
  await api.call('DELETE', `/api/v2/oauth-clients/${second.client.id}`);
  const { completeClientEnd } = await import('#version-control/complete-end.ts');
  await completeClientEnd(second.client.id);
  expect((await read(second.set.id)).attributes['vcs-repo']).toBeNull();
});

describe('the API rejects', () => {
  it.each([
    [{ 'policies-path': 'a' }, { branch: 'none' }, 'Branch none does not exist'],
    [{}, { 'tags-regex': 'v' }, 'tags-regex'],
    [{}, { 'oauth-token-id': 'ot-nosuch' }, 'oauth-token-id'],
    [{ 'policy-update-patterns': [''] }, {}, 'must not be empty'],
  ])('%j with %j', async (attributes, repo, words) => {
    const { token } = await followed.connection();
    const { status, body } = await ask(token, attributes, repo);
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining(words)]);
  });

  it('a project-scoped connection, and restricting a used one', async () => {
    const { client, token } = await followed.connection();
    await api.patch(`oauth-clients/${client.id}`, { 'organization-scoped': false });
    const { status, body } = await ask(token);
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('organization-scoped')]);
    await followed.has(policyFiles('deny := []'));
    const { client: used, set } = await create();
    const change = await api.patch(`oauth-clients/${used.id}`, { 'organization-scoped': false });
    expect(detailOf(change)).toEqual([422, expect.stringContaining(set.attributes.name)]);
  });

  it('individual policies and uploads', async () => {
    await followed.has(policyFiles('deny := []'));
    const { set, token } = await create();
    const upload = await api.post(`policy-sets/${set.id}/versions`);
    expect(detailOf(upload)).toEqual([422, expect.stringContaining(followed.identifier)]);
    const name = uniqueName('policy');
    const policy = (await api.post('organizations/acme/policies', { name, kind: 'opa', query: 'data.a.deny' })).body
      .data;
    const policies = { data: [{ type: 'policies', id: policy.id }] };
    const added = await api.call('POST', `/api/v2/policy-sets/${set.id}/relationships/policies`, { body: policies });
    expect(added.status).toBe(422);
    expect((await ask(token, {}, {}, { policies })).status).toBe(422);
  });
});

it('a policy set without a repository costs nothing', async () => {
  const set = (await api.post('organizations/acme/policy-sets', { name: uniqueName('set'), kind: 'opa' })).body.data;
  const content = new Uint8Array(await (await import('#test/support/policies.ts')).archive(policyFiles('deny := []')));
  await uploadVersion(api, set.id, content);
  expect(forge.calls).toEqual([]);
  expect((await read(set.id)).attributes['vcs-repo']).toBeNull();
});

describe('the commit', () => {
  // Drops calls of earlier tests, whose commits would be fetched again for a minute because the forge no longer has
  // them.
  beforeEach(() => {
    api.aws.invoked.length = 0;
  });
  const statusesOf = (n: number) =>
    forge.asked('POST', `/repos/${followed.identifier}/statuses/${sha(n)}`).map(({ body }) => body);
  /** Handles pending calls about statuses. */
  const settleStatuses = async () => {
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const fetching = await import('#lifecycle/creation/fetch-commit.ts');
    const statuses = await import('#version-control/commit-status.ts');
    const { invoked } = api.aws;
    for (let next = invoked.shift(); next; next = invoked.shift()) {
      if (next.name === 'VersionControlEventFunction') await handler(next.event as never);
      if (next.name === 'FetchCommitFunction') await fetching.handler(next.event as never);
      if (next.name === 'CommitStatusFunction') await statuses.handler(next.event as never);
    }
  };

  it('gets a status that shows whether the policies could be read', async () => {
    await followed.has(inFolder('policies'));
    const { set, hook } = await create({ 'policies-path': 'policies' });
    await settleStatuses();
    const { name } = set.attributes;
    expect(statusesOf(0)).toEqual([
      expect.objectContaining({
        state: 'success',
        context: 'stepform/acme',
        description: `Policies of ${name} are ready`,
        target_url: `https://stepform.example/app/acme/settings/policy-sets/${set.id}`,
      }),
    ]);
    forge.on('GET', /\/compare\//, { body: { files: [{ filename: 'policies/policies.hcl' }], behind_by: 0 } });
    await followed.has({ 'policies/policies.hcl': 'not { policies' });
    await followed.deliver(hook, 'push', push(0, 1));
    await settleStatuses();
    expect(statusesOf(1)).toEqual([
      expect.objectContaining({ state: 'failure', description: `Policies of ${name} could not be read` }),
    ]);
    expect((await followed.messages()).join()).toContain(`policies of ${name} could not be read`);
  });

  it('includes policy sets in an aggregated status, or shows them separately', async () => {
    const { set, token, hook } = await create();
    await followed.has({ 'main.tf': '# neither policies' });
    const workspace = await followed.workspace(token);
    await settleStatuses();
    await followed.deliver(hook, 'push', push(0, 1));
    await settleStatuses();
    const [, run] = await followed.runsOf(workspace);
    const { handler } = await import('#version-control/commit-status.ts');
    await handler({ runId: run.id });
    const { name } = set.attributes;
    const together = statusesOf(1).at(-1);
    expect(together).toMatchObject({ state: 'failure', context: 'stepform/acme' });
    expect(together.description).toMatch(new RegExp(`^1 workspace: 1 running; Policies of ${name} could not be read$`));
    await api.patch('organizations/acme', { 'aggregated-commit-status-enabled': false });
    try {
      await handler({ runId: run.id });
    } finally {
      await api.patch('organizations/acme', { 'aggregated-commit-status-enabled': true });
    }
    const apart = statusesOf(1).map(({ context }) => context);
    expect(apart).toContain(`stepform/acme/policy-sets/${name}`);
    expect(apart).toContain(`stepform/acme/${workspace.attributes.name}`);
  });
});
