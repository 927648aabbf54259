import { expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** No user can pass for the owner of another e-mail address. */

const kelvin = '\u212A';

const scene = await Scene.open({ STEPFORM_SIGN_IN_EMAIL_DOMAINS: 'example.test,kompany.test' });

it('other services see no address that a user merely entered', async () => {
  const mallory = await scene.signIn();
  await scene.must(mallory.token, 'PATCH', 'account/update', {
    data: { type: 'users', attributes: { email: 'ceo@example.test' } },
  });
  // The owner's address in templates of environments.
  const me = await fetch(`${scene.platform.local.environmentsUrl}/api/v2/users/me`, {
    headers: { 'coder-session-token': mallory.token },
  });
  expect(await me.json()).toMatchObject({ email: mallory.account.email });
});

it('an address that Unicode folds to the invited one does not receive the invitation', async () => {
  const name = uniqueName('karl');
  await scene.invite(`${name}@example.test`);
  const mallory = await scene.signIn({ email: `${name.replace('k', kelvin)}@example.test` });
  expect((await scene.get(mallory.token, `organizations/${scene.organization}`)).status).toBe(404);
});

it('users of a domain that Unicode folds to an allowed one cannot sign in', async () => {
  const email = `mallory@${kelvin}ompany.test`;
  await expect(scene.signIn({ email })).rejects.toThrow();
});

it('names of organizations and teams cannot differ only in case', async () => {
  const name = scene.organization.toUpperCase();
  const attributes = { name, email: 'o@example.test' };
  expect((await scene.post(scene.owner, 'organizations', attributes)).status).toBe(422);
  const team = await scene.team(scene.owner, { name: uniqueName('platform') });
  const path = `organizations/${scene.organization}/teams`;
  expect((await scene.post(scene.owner, path, { name: team.attributes.name.toUpperCase() })).status).toBe(422);
});
