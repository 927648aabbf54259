import { describe, expect, it } from 'vitest';
import { altered } from '#test/support/altered-text.ts';
import { type Answered, startApi } from '#test/support/api.ts';

const api = await startApi();
const { handler: bootstrap } = await import('#resources/organizations/bootstrap.ts');

const use = async (secret: string, more: Record<string, string> = {}): Promise<Answered> =>
  api.call('POST', '/oauth/token', {
    token: null,
    base64: true,
    body: new URLSearchParams({ grant_type: 'urn:stepform:one-time-secret', secret, ...more }).toString(),
  });
const tokenFor = async (secret: string): Promise<string> => (await use(secret)).body.access_token;

it('the function creates an organization with a project and an owner', async () => {
  const bootstrapped = await bootstrap({ organization: 'first', email: 'admin@first.test' });
  expect(bootstrapped).toEqual({
    organization: 'first',
    userId: expect.stringMatching(/^user-/),
    secret: expect.stringMatching(/^sfonce_/),
    goodUntil: expect.any(String),
    signInAt: expect.stringMatching(/^http.*\/app$/),
  });
  const token = await tokenFor(bootstrapped.secret);
  expect((await api.get('account/details', { token })).body.data.attributes.username).toBe('admin');
  expect((await api.post('organizations/first/workspaces', { name: 'w' }, {}, { token })).status).toBe(201);
  expect((await api.get('organizations/first/projects', { token })).body.data).toHaveLength(1);
  expect((await api.get('organizations/acme', { token })).status).toBe(404);
});

describe('a one-time secret', () => {
  const fresh = () => bootstrap({ organization: 'acme', email: 'x@y.test', rotate: true });

  it('is not a token, works once, and is rejected with a reason the second time', async () => {
    const { secret } = await fresh();
    expect((await api.get('account/details', { token: secret })).status).toBe(401);
    const { status, body } = await use(` ${secret}\n`, { redirect_uri: 'page' });
    expect({ status, body }).toMatchObject({ status: 200, body: { access_token: expect.stringMatching(/^sfs_/) } });
    const again = await use(secret);
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(again.body.error_description).toMatch(/was used at \d{4}-.*tell the operator.*"rotate": true/);
  });

  it('signs in one of two concurrent users', async () => {
    const { secret } = await fresh();
    const both = await Promise.all([use(secret), use(secret)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('is rejected when replaced, expired or made up', async () => {
    const former = await fresh();
    const { secret, userId } = await fresh();
    const guessed = altered(secret);
    for (const wrong of [former.secret, guessed, 'sfonce_', '', api.token]) {
      expect((await use(wrong)).body.error_description).toContain('is unknown or was replaced by a newer one');
    }
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    await update(keys.oneTimeSecret(userId), { set: { goodUntil: new Date(Date.now() - 1).toISOString() } });
    expect((await use(secret)).body.error_description).toContain('has expired');
  });

  it('is stored only as a hash', async () => {
    const { secret, userId } = await fresh();
    const { keys } = await import('#platform/store/keys.ts');
    const { get } = await import('#platform/store/table.ts');
    expect(JSON.stringify(await get(keys.oneTimeSecret(userId)))).not.toContain(secret.split('.')[1]);
  });
});

it('the function rejects an existing organization without "rotate"', async () => {
  await expect(bootstrap({ organization: 'acme', email: 'x@y.test' })).rejects.toThrow(/exists.*rotate/);
  const again = await bootstrap({ organization: 'acme', email: 'x@y.test', rotate: true });
  expect(again.userId).toBe(api.userId);
  for (const token of [await tokenFor(again.secret), api.token]) {
    expect((await api.get('organizations/acme', { token })).status).toBe(200);
  }
});

it('the function names the invalid field of its input', async () => {
  await expect(bootstrap({ organization: 'a b', email: 'not-an-address' })).rejects.toThrow(
    /organization: an organization name has 3 to 40 characters.*email: must be an e-mail address/,
  );
  await expect(bootstrap(null)).rejects.toThrow(/Send \{"organization"/);
});

it('the function completes an interrupted creation with "rotate"', async () => {
  for (let call = 3; call <= 7; call++) {
    const organization = `cut-${call}`;
    api.aws.failCall(call, 'before');
    await expect(bootstrap({ organization, email: 'x@y.test' })).rejects.toThrow();
    const token = await tokenFor((await bootstrap({ organization, email: 'x@y.test', rotate: true })).secret);
    expect((await api.get(`organizations/${organization}`, { token })).status).toBe(200);
    expect((await api.get(`organizations/${organization}/projects`, { token })).body.data).toHaveLength(1);
  }
});
