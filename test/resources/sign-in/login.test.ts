import { createHash, randomBytes } from 'node:crypto';
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { keys } from '#platform/store/keys.ts';
import { eventOf, startApi } from '#test/support/api.ts';

const api = await startApi();
const { handler } = await import('#public-api/sign-in.ts');
const store: typeof import('#platform/store/table.ts') &
  typeof import('#platform/store/id.ts') &
  typeof import('#resources/users/tokens.ts') = {
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/id.ts')),
  ...(await import('#resources/users/tokens.ts')),
};

type Fields = Record<string, string>;
const form = (fields: Fields): string => new URLSearchParams(fields).toString();

const call = async (method: string, path: string, body?: string) => {
  const answer = await handler(eventOf(method, path, { token: null, body, base64: true }), {} as Context);
  const { statusCode, headers = {}, body: text = '' } = answer as APIGatewayProxyStructuredResultV2;
  return { status: statusCode, headers: headers as Fields, text };
};

const verifier = randomBytes(32).toString('base64url');
/** The request of terraform. */
const request: Fields = {
  client_id: 'terraform-cli',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
  redirect_uri: 'http://localhost:10004/login',
  response_type: 'code',
  state: '22a8973a',
};

const ask = (change: Fields = {}) => call('GET', `/oauth/authorization?${form({ ...request, ...change })}`);
const allow = (change: Fields = {}) =>
  call('POST', '/oauth/authorization', form({ ...request, token: api.token, ...change }));
const codeOf = async (change?: Fields): Promise<string> =>
  new URL((await allow(change)).headers.location ?? '').searchParams.get('code') ?? '';
const exchange = async (code: string, change: Fields = {}) => {
  const sent = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: request.redirect_uri };
  const { status, headers, text } = await call('POST', '/oauth/token', form({ ...sent, ...change } as Fields));
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  return { status, body: JSON.parse(text) };
};

it('the login page exchanges the pasted token for a new one', async () => {
  const discovery = (await api.get('/.well-known/terraform.json', { token: null })).body['login.v1'];
  expect(discovery).toMatchObject({ client: 'terraform-cli', authz: '/oauth/authorization', token: '/oauth/token' });
  const page = await ask();
  expect(page.status).toBe(200);
  expect(page.text).toContain('<strong>api.example.test</strong>');
  const answer = await allow({ token: ` ${api.token}\n` });
  expect(answer).toMatchObject({ status: 303, text: '' });
  const location = new URL(answer.headers.location ?? '');
  expect(`${location.origin}${location.pathname}`).toBe(request.redirect_uri);
  expect(location.searchParams.get('state')).toBe(request.state);
  const { status, body } = await exchange(location.searchParams.get('code') ?? '');
  expect({ status, body }).toMatchObject({ status: 200, body: { token_type: 'bearer' } });
  expect(body.access_token).not.toBe(api.token);
  const me = await api.get('account/details', { token: body.access_token });
  expect(me.body.data.id).toBe(api.userId);
  const [event] = (await api.get('organization/audit-trail')).body.data.slice(-1);
  expect(event).toMatchObject({
    auth: { accessor_id: api.userId },
    resource: { type: 'authentication_token', id: expect.stringMatching(/^at-/), action: 'create' },
  });
});

it('the login page limits the new token to the lifetime of the pasted one', async () => {
  const soon = new Date(Date.now() + 60_000).toISOString();
  const { secret } = await store.createToken(api.userId, 'short', soon);
  const { body } = await exchange(await codeOf({ token: secret }));
  expect((await store.findToken(body.access_token))?.expiredAt).toBe(soon);
});

describe('no token is issued', () => {
  it('for an invalid token', async () => {
    const page = await allow({ token: 'sfu_wrong' });
    expect(page.status).toBe(403);
    expect(page.text).toContain('Invalid API token');
    expect(page.headers.location).toBeUndefined();
  });

  it.each([
    ['another site', { redirect_uri: 'https://evil.test/login' }],
    ['another host that looks alike', { redirect_uri: 'http://localhost:10004@evil.test/login' }],
    ['another port', { redirect_uri: 'http://localhost:8080/login' }],
    ['a port below those of Terraform', { redirect_uri: 'http://localhost:09999/login' }],
    ['a port above those of Terraform', { redirect_uri: 'http://localhost:10011/login' }],
    ['another path', { redirect_uri: 'http://localhost:10004/login/../x' }],
    ['another client', { client_id: 'another-client' }],
    ['a challenge in the clear', { code_challenge_method: 'plain' }],
    ['no challenge', { code_challenge: '' }],
    ['an implicit grant', { response_type: 'token' }],
  ])('to the redirect address %s', async (_, change) => {
    for (const answer of [await ask(change), await allow(change)]) {
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.headers['content-security-policy']).toContain("form-action 'none'");
    }
  });

  it('for a used code, even with the right verifier', async () => {
    const code = await codeOf();
    expect((await exchange(code)).status).toBe(200);
    expect(await exchange(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const guessed = await codeOf();
    expect(await exchange(guessed, { code_verifier: 'x'.repeat(43) })).toMatchObject({ status: 400 });
    expect(await exchange(guessed)).toMatchObject({ status: 400 });
  });

  it('for a code with another redirect address, an unknown code, or one of another grant', async () => {
    expect(await exchange(await codeOf(), { redirect_uri: 'http://localhost:10005/login' })).toMatchObject({
      status: 400,
    });
    expect(await exchange('')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await exchange(await codeOf(), { grant_type: 'password' })).toMatchObject({
      status: 400,
      body: { error: 'unsupported_grant_type' },
    });
  });

  it('for an expired code, and only one for two concurrent exchanges', async () => {
    const old = await codeOf();
    await store.update(keys.loginCode(store.hashSecret(old)), {
      set: { expiresAt: Math.floor(Date.now() / 1000) - 1 },
    });
    expect(await exchange(old)).toMatchObject({ status: 400 });
    const code = await codeOf();
    const both = await Promise.all([exchange(code), exchange(code)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

it('the login page escapes every query parameter', async () => {
  const page = await ask({ state: `"><script>alert(1)</script>'` });
  expect(page.status).toBe(200);
  expect(page.text).not.toContain('<script');
  expect(page.text).toContain('&quot;&gt;&lt;script&gt;');
  const policy = page.headers['content-security-policy'];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self' http://localhost:10004;");
  expect(policy).not.toMatch(/script-src|unsafe/);
});
