import { expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** A directory from outside: a leaver loses access in the same request, and its token opens nothing else. */

const scene = await Scene.open();

interface Directory {
  url: string;
  token: string;
}

const directoryOf = async (owner: string, organization: string): Promise<Directory> => {
  const { id, attributes } = await scene.must(owner, 'POST', `organizations/${organization}/scim-configuration`);
  const body = { data: { attributes: { description: 'directory' } } };
  const made = await scene.must(owner, 'POST', `scim-configurations/${id}/authentication-tokens`, body);
  return { url: attributes['base-url'], token: made.attributes.token };
};

const call = async ({ url, token }: Directory, method: string, path: string, body?: unknown) => {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json; charset=utf-8' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get('content-type'), body: text ? JSON.parse(text) : undefined };
};

const own = await directoryOf(scene.owner, scene.organization);
const disable = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] };

it('a provisioned user signs in, and loses session and tokens with the deactivation', async () => {
  const email = `${uniqueName('leaver')}@example.test`;
  const { body: user } = await call(own, 'POST', '/Users', { userName: email });
  const found = await call(own, 'GET', `/Users?filter=${encodeURIComponent(`userName eq "${email.toUpperCase()}"`)}`);
  expect([found.status, found.type, found.body.totalResults]).toEqual([200, 'application/scim+json', 1]);
  const leaver = await scene.signIn({ email });
  const organization = `organizations/${scene.organization}`;
  expect((await scene.get(leaver.token, organization)).status).toBe(200);
  const attributes = { description: 'laptop' };
  const { token } = (
    await scene.must(leaver.token, 'POST', `users/${leaver.id}/authentication-tokens`, { data: { attributes } })
  ).attributes;
  expect((await scene.get(token, organization)).status).toBe(200);
  expect((await call(own, 'PATCH', `/Users/${user.id}`, disable)).body.active).toBe(false);
  for (const ended of [leaver.token, token]) {
    expect((await scene.get(ended, organization)).status).toBe(401);
    expect((await scene.get(ended, 'account/details')).status).toBe(401);
  }
  // The issuer still lets the user sign in, to nothing.
  const again = await scene.signIn(leaver.account);
  expect((await scene.get(again.token, organization)).status).toBe(404);
});

it('a directory of another organization reaches neither the users nor the API', async () => {
  const email = `${uniqueName('victim')}@example.test`;
  const { body: user } = await call(own, 'POST', '/Users', { userName: email });
  const victim = await scene.signIn({ email });
  const elsewhere = await scene.organizationOf(scene.owner);
  const foreign = await directoryOf(scene.owner, elsewhere);
  expect((await call({ ...own, token: foreign.token }, 'PATCH', `/Users/${user.id}`, disable)).status).toBe(401);
  expect((await call(foreign, 'PATCH', `/Users/${user.id}`, disable)).status).toBe(404);
  const { body: claimed } = await call(foreign, 'POST', '/Users', { userName: email });
  await call(foreign, 'DELETE', `/Users/${claimed.id}`);
  expect((await scene.get(victim.token, `organizations/${scene.organization}`)).status).toBe(200);
  expect((await scene.get(victim.token, `organizations/${elsewhere}`)).status).toBe(404);
  for (const path of ['account/details', `organizations/${scene.organization}`, 'organizations'])
    expect((await scene.get(own.token, path)).status).toBe(401);
});
