import { beforeEach, describe, expect, it } from 'vitest';
import { Followed, push, sha } from './support/followed.ts';
import { startForge } from './support/forge-server.ts';

/**
 * Allowed targets of a connection's requests: no internal addresses, and its token and secrets only to its own
 * origin.
 */

const followed = await Followed.start();
const elsewhere = await startForge();
beforeEach(() => {
  followed.reset();
  elsewhere.reset();
});

const connecting = (apiUrl: string, change: object = {}) =>
  followed.api.post('organizations/acme/oauth-clients', {
    'service-provider': 'github',
    'http-url': 'https://forge.example',
    'api-url': apiUrl,
    'oauth-token-string': 'good',
    ...change,
  });

/** No secret was sent there. */
const expectNoSecrets = () => {
  const told = elsewhere.calls.map(({ authorization, headers, body }) => [authorization, headers, String(body)]);
  expect(JSON.stringify(told)).not.toMatch(/good|the-client-secret|Bearer/);
};

describe('a private address', () => {
  it.each([
    ['loopback', 'https://127.0.0.1:8443'],
    ['loopback by name', 'https://localhost:8443'],
    ['loopback in another notation', 'https://2130706433:8443'],
    ['loopback as IPv6', 'https://[::1]:8443'],
    ['loopback mapped into IPv6', 'https://[::ffff:127.0.0.1]:8443'],
    ['instance metadata', 'https://169.254.169.254'],
    ['metadata of containers', 'https://169.254.170.2'],
    ['a private network', 'https://10.0.0.1'],
  ])('is never called: %s', async (_, apiUrl) => {
    delete process.env.OUTBOUND_ALLOWED_CIDRS;
    const { status, body } = await connecting(apiUrl);
    expect([status, body.errors[0].detail]).toEqual([
      422,
      expect.stringMatching(/not allowed|may not be called|private/),
    ]);
  });

  it('is not called over http either', async () => {
    delete process.env.OUTBOUND_ALLOWED_CIDRS;
    const { status } = await connecting(followed.forge.url);
    expect([status, followed.forge.calls]).toEqual([422, []]);
  });
});

describe('a redirect to another origin', () => {
  it.each([301, 302, 303, 307, 308])('gets no request of the API: %i', async (status) => {
    const { client } = await followed.connection();
    const location = `${elsewhere.url}/user`;
    followed.forge.on('GET', '/user', { status, headers: { location }, body: {} });
    const changed = await followed.api.patch(`oauth-clients/${client.id}`, { 'oauth-token-string': 'good' });
    expect([changed.status, elsewhere.calls]).toEqual([422, []]);
  });

  it('gets no secret of a webhook', async () => {
    const { token } = await followed.connection();
    const at = `/repos/${followed.identifier}/hooks`;
    followed.forge.on('POST', at, { status: 307, headers: { location: `${elsewhere.url}${at}` }, body: {} });
    const { status } = await followed.api.post('organizations/acme/workspaces', {
      name: 'astray',
      'vcs-repo': { identifier: followed.identifier, 'oauth-token-id': token },
    });
    expect([status, elsewhere.calls]).toEqual([422, []]);
  });

  it('gets no secret of an OAuth client, and no code', async () => {
    const { eventOf } = await import('#test/support/api.ts');
    const { handler } = await import('#public-api/version-control.ts');
    const { url } = followed.forge;
    const secrets = { key: 'k', secret: 'the-client-secret', 'http-url': url, 'oauth-token-string': '' };
    const { id, attributes } = (await connecting(url, secrets)).body.data;
    const path = `/api/v2/oauth-clients/${id}/actions/connect`;
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into
    const begun = (await handler(eventOf('POST', path, { token: followed.api.token }), {} as never)) as any;
    const state = new URL(JSON.parse(begun.body).data.attributes['authorize-url']).searchParams.get('state');
    const at = '/login/oauth/access_token';
    followed.forge.on('POST', at, { status: 307, headers: { location: `${elsewhere.url}${at}` }, body: {} });
    const event = eventOf('GET', `/auth/${attributes.uuid}/callback?code=the-code&state=${state}`, { token: null });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into
    const back = (await handler({ ...event, cookies: [begun.cookies[0].split(';')[0]] }, {} as never)) as any;
    expect(back.headers.location).toContain('?failed=');
    expect(elsewhere.calls).toEqual([]);
  });

  it('is followed for archives, without a token', async () => {
    const { hook, workspace } = await followed.connect();
    const { archive } = await import('#test/support/policies.ts');
    const body = await archive({ 'acme-infra-1/main.tf': '# 1' });
    elsewhere.answers.unshift(() => ({ body }));
    elsewhere.tokens.add('');
    const location = `${elsewhere.url}/login/archive`;
    followed.forge.on('GET', /tarball/, { status: 302, headers: { location }, body: {} });
    await followed.deliver(hook, 'push', push(0, 1));
    await followed.settleAndFetch();
    expect(await followed.commitsOf(workspace)).toContain(sha(1));
    expect(elsewhere.calls.length).toBeGreaterThan(0);
    expectNoSecrets();
    expect(elsewhere.calls.map(({ authorization }) => authorization)).not.toContain('Bearer good');
  });

  it('is not followed to a private address', async () => {
    const { hook, workspace } = await followed.connect();
    followed.forge.on('GET', /tarball/, {
      status: 302,
      headers: { location: 'http://169.254.169.254/latest/meta-data/' },
      body: {},
    });
    await followed.deliver(hook, 'push', push(0, 1));
    await followed.settleAndFetch();
    const [, run] = await followed.runsOf(workspace);
    const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
    const version = await getConfigurationVersion(run.configurationVersionId);
    expect([version?.status, version?.errorMessage]).toEqual(['errored', expect.stringMatching(/could not be/)]);
  });
});
