import { afterAll, beforeAll, expect, it } from 'vitest';
import { handler as bootstrap } from '../../functions/events/bootstrap.ts';
import { type Api, startApi } from '../support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

it('makes an organization with a project and an owner who may do everything', async () => {
  const made = await bootstrap({ organization: 'first', email: 'admin@first.test' });
  expect(made).toEqual({ token: expect.any(String), organization: 'first', userId: expect.stringMatching(/^user-/) });
  const { token } = made;
  expect((await api.get('account/details', { token })).body.data.attributes.username).toBe('admin');
  expect((await api.post('organizations/first/workspaces', { name: 'w' }, {}, { token })).status).toBe(201);
  expect((await api.get('organizations/first/projects', { token })).body.data).toHaveLength(1);
  expect((await api.get('organizations/acme', { token })).status).toBe(404);
});

it('refuses an organization that exists, unless it is to give its owner another token', async () => {
  await expect(bootstrap({ organization: 'acme', email: 'x@y.test' })).rejects.toThrow(/exists.*rotate/);
  const again = await bootstrap({ organization: 'acme', email: 'x@y.test', rotate: true });
  expect(again.userId).toBe(api.userId);
  expect(again.token).not.toBe(api.token);
  for (const token of [again.token, api.token]) {
    expect((await api.get('organizations/acme', { token })).status).toBe(200);
  }
});

it('says what is wrong with its input', async () => {
  await expect(bootstrap({ organization: 'a b', email: 'nobody' })).rejects.toThrow(
    /organization: an organization name has 3 to 40 characters.*email: must be an e-mail address/,
  );
  await expect(bootstrap(null)).rejects.toThrow(/Send \{"organization"/);
});

it('completes with rotate what was cut off', async () => {
  for (let call = 3; call <= 7; call++) {
    const organization = `cut-${call}`;
    api.aws.failCall(call, 'before');
    await expect(bootstrap({ organization, email: 'x@y.test' })).rejects.toThrow();
    const { token } = await bootstrap({ organization, email: 'x@y.test', rotate: true });
    expect((await api.get(`organizations/${organization}`, { token })).status).toBe(200);
    expect((await api.get(`organizations/${organization}/projects`, { token })).body.data).toHaveLength(1);
  }
});
