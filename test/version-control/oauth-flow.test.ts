import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { startForge } from './support/forge-server.ts';

/** Authorization of a connection at a forge, and expiring tokens. */

const api = await startApi();
const forge = await startForge();
beforeEach(() => {
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  forge.reset();
});

const makeClient = async () => {
  const made = await api.post('organizations/acme/oauth-clients', {
    'service-provider': 'gitea',
    'http-url': forge.url,
    'api-url': forge.url,
    key: 'the-key',
    secret: 'the-secret',
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.data;
};

/** Begins an authorization. @returns the browser's cookie and redirect */
const begin = async (id: string) => {
  const { handler } = await import('#public-api/version-control.ts');
  const { eventOf } = await import('#test/support/api.ts');
  const path = `/api/v2/oauth-clients/${id}/actions/connect`;
  const answer = (await handler(eventOf('POST', path, { token: api.token }), {} as never)) as {
    body: string;
    cookies: string[];
  };
  const url = new URL(JSON.parse(answer.body).data.attributes['authorize-url']);
  return { url, cookie: answer.cookies[0]?.split(';')[0] ?? '', flags: answer.cookies[0] ?? '' };
};

const comeBack = async (uuid: string, query: Record<string, string>, cookie?: string) => {
  const { handler } = await import('#public-api/version-control.ts');
  const { eventOf } = await import('#test/support/api.ts');
  const event = eventOf('GET', `/auth/${uuid}/callback?${new URLSearchParams(query)}`, { token: null });
  const answer = await handler({ ...event, cookies: cookie ? [cookie] : [] }, {} as never);
  return answer as { statusCode: number; headers: Record<string, string>; body?: string };
};

const issue = (change: object = {}) => {
  let issued = 0;
  forge.on('POST', '/login/oauth/access_token', () => {
    issued++;
    forge.tokens.add(`issued-${issued}`);
    const token = { access_token: `issued-${issued}`, token_type: 'bearer', refresh_token: `refresh-${issued}` };
    return { body: { ...token, expires_in: 3600, ...change } };
  });
};

const tokenIn = async (id: string): Promise<string> =>
  (await api.get(`oauth-clients/${id}`)).body.data.relationships['oauth-tokens'].data[0]?.id;

it('an authorization redeems the code with PKCE and the secret, once, in the browser that began it', async () => {
  issue();
  const client = await makeClient();
  const { url, cookie, flags } = await begin(client.id);
  expect(flags).toMatch(/^__Host-connect=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
  const asked = Object.fromEntries(url.searchParams);
  expect(asked).toMatchObject({
    response_type: 'code',
    client_id: 'the-key',
    redirect_uri: client.attributes['callback-url'],
    scope: 'write:repository write:issue read:user',
    code_challenge_method: 'S256',
  });
  const { uuid } = client.attributes;
  const answer = { code: 'the-code', state: asked.state ?? '' };
  const back = await comeBack(uuid, answer, cookie);
  expect([back.statusCode, back.headers.location]).toEqual([
    303,
    `/app/acme/settings/version-control?connected=${client.id}`,
  ]);
  const [redeemed] = forge.asked('POST', '/login/oauth/access_token');
  const sent = Object.fromEntries(redeemed?.body as URLSearchParams);
  expect(sent).toMatchObject({ code: 'the-code', client_id: 'the-key', client_secret: 'the-secret' });
  const challenge = createHash('sha256')
    .update(sent.code_verifier ?? '')
    .digest('base64url');
  expect(challenge).toBe(asked.code_challenge);
  expect((await api.get(`oauth-tokens/${await tokenIn(client.id)}`)).body.data.attributes).toMatchObject({
    'service-provider-user': 'octocat',
    uid: '7',
  });
  expect((await comeBack(uuid, answer, cookie)).statusCode).toBe(400);
});

describe('the platform rejects a callback', () => {
  it.each([
    ['without the cookie', {}, ''],
    ['with the cookie of another attempt', {}, '__Host-connect=other'],
    ['with an unknown state', { state: 'unknown' }, undefined],
  ])('%s', async (_, change, cookie) => {
    issue();
    const client = await makeClient();
    const begun = await begin(client.id);
    const query = { code: 'c', state: begun.url.searchParams.get('state') ?? '', ...change };
    const back = await comeBack(client.attributes.uuid, query, cookie ?? begun.cookie);
    expect(back.statusCode).toBe(400);
    expect(forge.asked('POST', '/login/oauth/access_token')).toEqual([]);
    expect(await tokenIn(client.id)).toBeUndefined();
  });

  it('at the address of another connection', async () => {
    const [client, other] = [await makeClient(), await makeClient()];
    const { url, cookie } = await begin(client.id);
    const query = { code: 'c', state: url.searchParams.get('state') ?? '' };
    expect((await comeBack(other.attributes.uuid, query, cookie)).statusCode).toBe(400);
  });

  it('when the forge rejects the code, with a message on the page', async () => {
    forge.on('POST', '/login/oauth/access_token', { status: 400, body: { error: 'invalid_grant' } });
    const client = await makeClient();
    const { url, cookie } = await begin(client.id);
    const back = await comeBack(
      client.attributes.uuid,
      { code: 'c', state: url.searchParams.get('state') ?? '' },
      cookie,
    );
    expect(back.headers.location).toBe(`/app/acme/settings/version-control?failed=${client.id}`);
    expect(await tokenIn(client.id)).toBeUndefined();
  });
});

describe('a token that expires', () => {
  const connect = async (change: object) => {
    issue(change);
    const client = await makeClient();
    const { url, cookie } = await begin(client.id);
    await comeBack(client.attributes.uuid, { code: 'c', state: url.searchParams.get('state') ?? '' }, cookie);
    forge.calls.length = 0;
    return tokenIn(client.id);
  };

  it('is refreshed once under concurrent use', async () => {
    const id = await connect({ expires_in: 60 });
    issue({ access_token: 'fresh', expires_in: 3600 });
    forge.tokens.add('fresh');
    forge.on('GET', '/user/repos', { body: [] });
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.get(`oauth-tokens/${id}/authorized-repos`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(forge.asked('POST', '/login/oauth/access_token')).toHaveLength(1);
    expect(new Set(forge.asked('GET', '/user/repos').map((call) => call.authorization))).toEqual(
      new Set(['Bearer fresh']),
    );
  });

  it('is reported as broken when the forge issues no other', async () => {
    const id = await connect({ expires_in: 60 });
    forge.on('POST', '/login/oauth/access_token', { status: 400, body: { error: 'invalid_grant' } });
    expect((await api.get(`oauth-tokens/${id}/authorized-repos`)).status).toBe(422);
    expect((await api.get(`oauth-tokens/${id}`)).body.data.attributes['error-message']).toBe(
      'Gitea does not issue a new token (invalid_grant). Authorize the connection again',
    );
  });
});
