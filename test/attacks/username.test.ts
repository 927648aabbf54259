import { describe, expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** Policies read `created_by`: no user can use the name of another one. */

const scene = await Scene.open();

const rename = (token: string, username: string) =>
  scene.call(token, 'PATCH', 'account/update', { data: { type: 'users', attributes: { username } } });
const nameOf = async (token: string): Promise<string> =>
  (await scene.must(token, 'GET', 'account/details')).attributes.username;

describe('a username', () => {
  it('cannot be taken twice, in any spelling', async () => {
    const victim = await scene.signIn();
    const attacker = await scene.signIn();
    const name = await nameOf(victim.token);
    for (const spelled of [name, name.toUpperCase()]) {
      const { status, body } = await rename(attacker.token, spelled);
      expect(status).toBe(422);
      expect(body.errors[0].source.pointer).toBe('/data/attributes/username');
    }
    expect(await nameOf(attacker.token)).not.toBe(name);
  });

  it('of the first owner cannot be claimed through the issuer', async () => {
    const name = await nameOf(scene.owner);
    const attacker = await scene.signIn({ preferred_username: name });
    expect(await nameOf(attacker.token)).not.toBe(name);
    const invited = `${uniqueName('invited')}@example.test`;
    await scene.invite(invited);
    const second = await scene.signIn({ email: invited, preferred_username: name });
    expect(await nameOf(second.token)).not.toBe(name);
  });

  it('goes to one of several concurrent requests', async () => {
    const people = [await scene.signIn(), await scene.signIn(), await scene.signIn()];
    const username = uniqueName('wanted');
    const answers = await Promise.all(people.map(({ token }) => rename(token, username)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  });

  it('stays reserved for its user after a rename', async () => {
    const victim = await scene.signIn();
    const attacker = await scene.signIn();
    const before = await nameOf(victim.token);
    expect((await rename(victim.token, uniqueName('new'))).status).toBe(200);
    expect((await rename(attacker.token, before)).status).toBe(422);
    expect((await rename(victim.token, before)).status).toBe(200);
  });

  it('of a service account cannot be taken by a user', async () => {
    const attacker = await scene.signIn({ preferred_username: `api-org-${scene.organization}` });
    const name = await nameOf(attacker.token);
    expect(name).not.toMatch(/^(api-org|api-team|audit-trail)-/);
    for (const reserved of [`api-org-${scene.organization}`, 'API-team-abc', 'audit-trail-acme']) {
      expect((await rename(attacker.token, reserved)).status).toBe(422);
    }
  });
});

it('an account update without changes succeeds and keeps the username', async () => {
  const { token } = await scene.signIn();
  const bodies = [{ data: { type: 'users', attributes: {} } }, { data: { type: 'users' } }];
  for (const body of bodies) expect((await scene.call(token, 'PATCH', 'account/update', body)).status).toBe(200);
});
