import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { related } from '#clients/client/client.ts';
import { client, newName, organization, platform, type Resource, resources } from '#test/e2e/support/world.ts';
import { giteaBinary } from '../gitea/binary.ts';
import { consent } from '../gitea/consent.ts';
import { Gitea } from '../gitea/gitea.ts';
import { ForgeProxy } from '../gitea/proxy.ts';

/** OAuth connections, with a real Gitea as authorization server. */

const binary = giteaBinary();

let gitea: Gitea;
/** Proxy between the platform and Gitea. */
let proxy: ForgeProxy;
beforeAll(async () => {
  if (!binary) return;
  gitea = await Gitea.start();
  proxy = await ForgeProxy.start(gitea.url);
});
afterAll(async () => {
  proxy?.close();
  await gitea?.stop();
});
beforeEach(() => {
  if (proxy) proxy.asked = [];
});

const tokenEndpoint = 'POST /login/oauth/access_token';

interface Application {
  key: string;
  secret: string;
}

/** A connection, and the application at Gitea with its callback address. */
const newConnection = async (): Promise<{ connection: Resource; application: Application }> => {
  const urls = { 'http-url': proxy.url, 'api-url': `${proxy.url}/api/v1` };
  const attributes = { name: newName('oauth'), 'service-provider': 'gitea', ...urls };
  const made = await client.create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', attributes);
  const registered = await gitea.call('POST', '/user/applications/oauth2', {
    name: newName('stepform'),
    redirect_uris: [made.attributes['callback-url']],
    confidential_client: true,
  });
  const application = { key: registered.client_id, secret: registered.client_secret };
  const { data } = await client.call<Resource>('PATCH', `/oauth-clients/${made.id}`, {
    data: { type: 'oauth-clients', attributes: application },
  });
  return { connection: data, application };
};

/** Like the page: the browser keeps the cookie, and follows the redirect. */
const begin = async ({ id }: Resource): Promise<{ authorizeUrl: string; cookie: string }> => {
  const answer = await fetch(`${platform.url}/api/v2/oauth-clients/${id}/actions/connect`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.token}` },
  });
  const { data } = (await answer.json()) as { data: Resource };
  return {
    authorizeUrl: data.attributes['authorize-url'],
    cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '',
  };
};

const comeBack = async (to: URL, cookie: string): Promise<[number, string | null]> => {
  const { status, headers } = await fetch(to, { headers: { cookie }, redirect: 'manual' });
  return [status, headers.get('location')];
};

const tokenOf = async ({ id }: Resource): Promise<string | undefined> =>
  related(await client.get(`/oauth-clients/${id}`), 'oauth-tokens');

const connected = async (connection: Resource): Promise<string> => {
  const { authorizeUrl, cookie } = await begin(connection);
  const [status] = await comeBack(await consent(gitea, authorizeUrl), cookie);
  expect(status).toBe(303);
  return (await tokenOf(connection)) ?? '';
};

const outcome = (words: string, { id }: Resource): [number, string] => [
  303,
  expect.stringMatching(new RegExp(`/settings/version-control\\?${words}=${id}$`)),
];

describe.skipIf(!binary)('an authorization at Gitea', () => {
  it('connects once, for the account that granted it, and workspaces follow with its token', async () => {
    const { connection } = await newConnection();
    const { authorizeUrl, cookie } = await begin(connection);
    const back = await consent(gitea, authorizeUrl);
    expect(await comeBack(back, cookie)).toEqual(outcome('connected', connection));
    const token = (await tokenOf(connection)) ?? '';
    const { attributes } = await client.get(`/oauth-tokens/${token}`);
    expect(attributes).toMatchObject({ 'service-provider-user': gitea.owner.name, 'error-message': null });
    expect((await comeBack(back, cookie))[0]).toBe(400);
    expect(proxy.asked.filter((one) => one === tokenEndpoint)).toHaveLength(1);
    const identifier = await gitea.repository(newName('private'), { 'main.tf': resources(['a']) });
    const workspace = await client.createWorkspace(organization, newName(), {
      'queue-all-runs': true,
      'vcs-repo': { identifier, 'oauth-token-id': token },
    });
    const runs = () => client.list(`/workspaces/${workspace.id}/runs`);
    await expect.poll(async () => (await runs()).length).toBe(1);
  });

  it('is finished by the browser that began it, even after attempts by others', async () => {
    const { connection } = await newConnection();
    const { authorizeUrl, cookie } = await begin(connection);
    const foreign = (await begin(connection)).cookie;
    const back = await consent(gitea, authorizeUrl);
    const wrong = new URL(back);
    wrong.searchParams.set('state', 'x'.repeat(43));
    expect(await comeBack(wrong, cookie)).toEqual([400, null]);
    for (const other of ['', foreign]) expect(await comeBack(back, other)).toEqual([400, null]);
    expect([await tokenOf(connection), proxy.asked.filter((one) => one === tokenEndpoint)]).toEqual([undefined, []]);
    expect(await comeBack(back, cookie)).toEqual(outcome('connected', connection));
  });

  it('does not connect another connection whose address is used', async () => {
    const { connection } = await newConnection();
    const { connection: other } = await newConnection();
    const { authorizeUrl, cookie } = await begin(connection);
    const back = await consent(gitea, authorizeUrl);
    const elsewhere = new URL(back);
    elsewhere.pathname = new URL(other.attributes['callback-url']).pathname;
    expect(await comeBack(elsewhere, cookie)).toEqual([400, null]);
    expect([await tokenOf(connection), await tokenOf(other)]).toEqual([undefined, undefined]);
  });

  it('cannot be completed with an intercepted code, even with the secret of the application', async () => {
    const { connection, application } = await newConnection();
    const { authorizeUrl } = await begin(connection);
    const back = await consent(gitea, authorizeUrl);
    const answer = await fetch(`${gitea.url}/login/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: application.key,
        client_secret: application.secret,
        redirect_uri: connection.attributes['callback-url'],
        code: back.searchParams.get('code') ?? '',
      }),
    });
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ error: expect.any(String) })]);
  });

  it('that the user denies returns to the page, without a connection', async () => {
    const { connection } = await newConnection();
    const { authorizeUrl, cookie } = await begin(connection);
    const back = await consent(gitea, authorizeUrl, false);
    expect(await comeBack(back, cookie)).toEqual(outcome('failed', connection));
    expect(await tokenOf(connection)).toBeUndefined();
  });

  it('that expires is refreshed once for any number of functions', async () => {
    const { connection } = await newConnection();
    await gitea.down();
    await gitea.up(60);
    const token = await connected(connection);
    await gitea.down();
    await gitea.up(3600);
    proxy.asked = [];
    const read = () => client.call('GET', `/oauth-tokens/${token}/authorized-repos`);
    // Gitea accepts a refresh token once: a second refresh would break the connection.
    await Promise.all(Array.from({ length: 10 }, read));
    await read();
    expect(proxy.asked.filter((one) => one === tokenEndpoint)).toHaveLength(1);
    expect((await client.get(`/oauth-tokens/${token}`)).attributes['error-message']).toBeNull();
  });

  it('that is valid for less than two minutes is refreshed whenever it is needed', async () => {
    const { connection } = await newConnection();
    await gitea.down();
    await gitea.up(60);
    const token = await connected(connection);
    proxy.asked = [];
    const read = () => client.call('GET', `/oauth-tokens/${token}/authorized-repos`);
    await Promise.all(Array.from({ length: 10 }, read));
    expect((await client.get(`/oauth-tokens/${token}`)).attributes['error-message']).toBeNull();
    await gitea.down();
    await gitea.up(3600);
  });
});
