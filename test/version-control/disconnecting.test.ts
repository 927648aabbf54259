import { beforeEach, describe, expect, it } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { addLayer, inputText } from '#test/support/table-layers.ts';
import { Followed, type Json, push, sha } from './support/followed.ts';

/** Cleanup after connections and their followers end, here and at the forge. */

const followed = await Followed.start();
beforeEach(() => followed.reset());

const day = 24 * 3600;

/** Followed repositories in the page's list. */
const repositoriesOf = async (client: Json): Promise<string[]> =>
  (await followed.api.get(`oauth-clients/${client.id}/repositories`)).body.data.map(
    ({ attributes }: Json) => attributes.identifier,
  );
const repoOf = async ({ id }: Json) => (await followed.api.get(`workspaces/${id}`)).body.data.attributes['vcs-repo'];
const deletedHooks = () => followed.forge.asked('DELETE', /\/hooks\/\d+$/).map(({ path }) => path);
const record = async (token: string, identifier: string) => {
  const { getRepository, repositoryId } = await import('#version-control/repositories.ts');
  return getRepository(repositoryId(token, identifier));
};

/** Another repository at the same forge, with a webhook of its own. */
const anotherRepository = (): string => {
  const identifier = `${followed.identifier}-2`;
  const facts = { full_name: identifier, default_branch: 'main', permissions: { admin: true } };
  const at = `/repos/${identifier}`;
  followed.forge.on('GET', at, { body: { ...facts, id: followed.repositoryId + 1000 } });
  followed.forge.on('GET', `${at}/branches/main`, { body: { commit: { sha: sha(0) } } });
  followed.forge.on('GET', `${at}/hooks`, { body: [] });
  followed.forge.on('POST', `${at}/hooks`, { status: 201, body: { id: 6 } });
  followed.forge.on('DELETE', `${at}/hooks/6`, { status: 204 });
  return identifier;
};

describe('a webhook', () => {
  it('is deleted when its last follower leaves during a check of the sweep', async () => {
    const { workspace, token } = await followed.connect();
    const { settleRepository } = await import('#version-control/webhooks.ts');
    const { repositoryId } = await import('#version-control/repositories.ts');
    const id = repositoryId(token, followed.identifier);
    let isLeft = false;
    const removeLayer = addLayer(async (operation, input, next) => {
      const output = await next(operation, input);
      if (operation === 'Query' && !isLeft && inputText(input).includes('FOLLOWER#')) {
        isLeft = true;
        await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
      }
      return output;
    });
    await settleRepository(id);
    removeLayer();
    expect(isLeft).toBe(true);
    for (const seconds of [60, 700]) await followed.sweepAfter(seconds);
    expect(await record(token, followed.identifier)).toBeUndefined();
    expect(deletedHooks()).toHaveLength(1);
  });

  it('that the forge cannot delete while it is down is deleted later, and accepts no deliveries until then', async () => {
    const { workspace, hook, token } = await followed.connect();
    const path = `/repos/${followed.identifier}/hooks/5`;
    followed.forge.on('DELETE', path, { status: 503, body: {} });
    await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    for (const seconds of [60, 700, 700]) await followed.sweepAfter(seconds);
    expect(deletedHooks()).toEqual([path, path, path]);
    expect((await followed.deliver(hook, 'push', push(0, 1))).status).toBe(404);
    followed.forge.on('DELETE', path, { status: 204 });
    await followed.sweepAfter(700);
    expect(await record(token, followed.identifier)).toBeUndefined();
    await followed.sweepAfter(day);
    expect(deletedHooks()).toHaveLength(4);
  });

  it.each([
    ['connection', (client: Json) => `oauth-clients/${client.id}`],
    ['token', (client: Json) => `oauth-tokens/${client.relationships['oauth-tokens'].data[0].id}`],
  ])('that the forge did not delete yet is deleted later by the %s that is deleted meanwhile', async (_, pathOf) => {
    const { workspace, client, token } = await followed.connect();
    const path = `/repos/${followed.identifier}/hooks/5`;
    followed.forge.on('DELETE', path, { status: 503, body: {} });
    await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    await followed.sweepAfter(60);
    await followed.api.call('DELETE', pathOf(client));
    await followed.sweepAfter(60);
    followed.forge.on('DELETE', path, { status: 204 });
    const before = deletedHooks().length;
    await followed.sweepAfter(700);
    await followed.sweepAfter(700);
    expect([deletedHooks().length > before, await record(token, followed.identifier)]).toEqual([true, undefined]);
    const { get, queryAll } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    expect(await get(keys.oauthToken(token))).toBeUndefined();
    const left = await queryAll<{ sk: string }>({ pk: `OC#${client.id}` });
    expect(left.filter(({ sk }) => sk !== 'OC')).toEqual([]);
  });

  it('is deleted with its organization, also after its workspaces', async () => {
    const name = uniqueName('ending');
    await followed.api.post('organizations', { name, email: 'a@example.com' });
    const made = await followed.api.post(`organizations/${name}/oauth-clients`, {
      'service-provider': 'github',
      'http-url': followed.forge.url,
      'api-url': followed.forge.url,
      'oauth-token-string': 'good',
    });
    const token = made.body.data.relationships['oauth-tokens'].data[0].id;
    const repo = { identifier: followed.identifier, 'oauth-token-id': token };
    await followed.api.post(`organizations/${name}/workspaces`, { name: 'follower', 'vcs-repo': repo });
    await followed.settle();
    expect((await followed.api.call('DELETE', `organizations/${name}`)).status).toBe(204);
    // The sweep may handle the connection first.
    const { completeClientEnd } = await import('#version-control/complete-end.ts');
    await completeClientEnd(made.body.data.id);
    for (const seconds of [60, 700]) await followed.sweepAfter(seconds);
    expect(deletedHooks()).toEqual([`/repos/${followed.identifier}/hooks/5`]);
    expect(await record(token, followed.identifier)).toBeUndefined();
  });

  it.each([
    ['refuses', 403, 60],
    ['is not reached for three days', 503, 3 * day + 60],
  ])('is abandoned with an event that names it when the forge %s', async (_, status, seconds) => {
    const { workspace, hook, token } = await followed.connect();
    followed.forge.on('DELETE', `/repos/${followed.identifier}/hooks/5`, { status, body: { message: 'no' } });
    await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    await followed.sweepAfter(60);
    if (status === 503) await followed.sweepAfter(seconds);
    expect(await record(token, followed.identifier)).toBeUndefined();
    const { body } = await followed.api.get('organizations/acme/vcs-events?filter[levels]=error');
    expect(body.data[0].attributes).toMatchObject({
      message: expect.stringContaining(`The webhook of ${followed.identifier}`),
      'suggested-action': expect.stringContaining(hook),
    });
  });

  it('needs no deletion when its repository was deleted', async () => {
    const { workspace, token } = await followed.connect();
    followed.forge.on('DELETE', `/repos/${followed.identifier}/hooks/5`, { status: 404, body: {} });
    await followed.api.patch(`workspaces/${workspace.id}`, { 'vcs-repo': null });
    await followed.sweepAfter(60);
    expect(await record(token, followed.identifier)).toBeUndefined();
    expect(await followed.messages()).not.toContainEqual(expect.stringContaining(`webhook of ${followed.identifier}`));
  });
});

describe('a workspace that changed its repository', () => {
  it('is still a follower of the connection, and is disconnected with it', async () => {
    const { workspace, client, token } = await followed.connect();
    const identifier = anotherRepository();
    const moved = await followed.api.patch(`workspaces/${workspace.id}`, {
      'vcs-repo': { identifier, 'oauth-token-id': token },
    });
    expect(moved.status).toBe(200);
    await followed.sweepAfter(60);
    expect([await repositoriesOf(client), deletedHooks()]).toEqual([
      [identifier],
      [`/repos/${followed.identifier}/hooks/5`],
    ]);
    const scoped = await followed.api.patch(`oauth-clients/${client.id}`, { 'organization-scoped': false });
    expect([scoped.status, scoped.body.errors?.[0].detail]).toEqual([
      422,
      expect.stringContaining(workspace.attributes.name),
    ]);
    await followed.api.call('DELETE', `oauth-clients/${client.id}`);
    await followed.sweepAfter(60);
    expect([await repoOf(workspace), deletedHooks().at(-1)]).toEqual([null, `/repos/${identifier}/hooks/6`]);
  });
});

it('a connection attempt leaves nothing behind if the forge rejects the webhook', async () => {
  const { client, token } = await followed.connection();
  followed.forge.on('POST', `/repos/${followed.identifier}/hooks`, { status: 403, body: {} });
  const refused = await followed.api.post('organizations/acme/workspaces', {
    name: 'refused',
    'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token },
  });
  expect([refused.status, await repositoriesOf(client)]).toEqual([422, []]);
  await followed.sweepAfter(60);
  await followed.sweepAfter(700);
  expect(await record(token, followed.identifier)).toBeUndefined();
});

it('followers connected with a new token stay while the old token is being deleted', async () => {
  const { workspace, client, token } = await followed.connect();
  followed.forge.on('DELETE', /\/hooks\/5$/, { status: 503, body: {} });
  await followed.api.call('DELETE', `oauth-tokens/${token}`);
  await followed.sweepAfter(60);
  expect(await repoOf(workspace)).toBeNull();
  const { body } = await followed.api.patch(`oauth-clients/${client.id}`, { 'oauth-token-string': 'good' });
  const next = body.data.relationships['oauth-tokens'].data[0].id;
  expect(next).not.toBe(token);
  const { workspace: later } = await followed.follow(next);
  for (const seconds of [700, 700]) await followed.sweepAfter(seconds);
  expect(await repoOf(later)).toMatchObject({ 'oauth-token-id': next });
  expect(await repositoriesOf(client)).toContain(followed.identifier);
});
