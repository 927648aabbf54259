import { afterAll, beforeAll, expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** Nobody passes for the holder of another e-mail address. */

const kelvin = '\u212A';

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open({ STEPFORM_SIGN_IN_EMAIL_DOMAINS: 'example.test,kompany.test' });
});
afterAll(() => scene.close());

it('shows other services no address that its user only entered', async () => {
  const mallory = await scene.signIn();
  await scene.must(mallory.token, 'PATCH', 'account/update', {
    data: { type: 'users', attributes: { email: 'ceo@example.test' } },
  });
  // What templates of environments get as the owner's.
  const me = await fetch(`${scene.platform.local.environmentsUrl}/api/v2/users/me`, {
    headers: { 'coder-session-token': mallory.token },
  });
  expect(await me.json()).toMatchObject({ email: mallory.account.email });
});

it('gives no invitation to an address that Unicode folds to the invited one', async () => {
  const name = uniqueName('karl');
  await scene.invite(`${name}@example.test`);
  const mallory = await scene.signIn({ email: `${name.replace('k', kelvin)}@example.test` });
  expect((await scene.get(mallory.token, `organizations/${scene.organization}`)).status).toBe(404);
});

it('lets nobody in from a domain that Unicode folds to an allowed one', async () => {
  const email = `mallory@${kelvin}ompany.test`;
  await expect(scene.signIn({ email })).rejects.toThrow();
});

it('keeps names of organizations and teams apart that differ in case only', async () => {
  const name = scene.organization.toUpperCase();
  const attributes = { name, email: 'o@example.test' };
  expect((await scene.post(scene.owner, 'organizations', attributes)).status).toBe(422);
  const team = await scene.team(scene.owner, { name: uniqueName('platform') });
  const path = `organizations/${scene.organization}/teams`;
  expect((await scene.post(scene.owner, path, { name: team.attributes.name.toUpperCase() })).status).toBe(422);
});
