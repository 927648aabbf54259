import { expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** A user of the issuer cannot learn which groups other users have there. */

const scene = await Scene.open();

it('unknown users cannot create organizations', async () => {
  const stranger = await scene.signIn();
  const attributes = { name: uniqueName('trap'), email: 'm@example.test' };
  const { status, body } = await scene.post(stranger.token, 'organizations', attributes);
  expect(status).toBe(403);
  expect(body.errors[0].detail).toContain('organizationCreators');
  const { attributes: account } = await scene.must(stranger.token, 'GET', 'account/details');
  expect(account.permissions).toMatchObject({ 'can-create-organizations': false, 'can-create-organization': false });
});

it('groups do not map to teams of an organization that the operator did not list', async () => {
  const group = uniqueName('engineering');
  const trap = await scene.organizationOf(scene.owner);
  const refused = await scene.post(scene.owner, `organizations/${trap}/teams`, {
    name: uniqueName('team'),
    'sso-team-id': group,
  });
  expect(refused.status).toBe(422);
  expect(refused.body.errors[0].source.pointer).toBe('/data/attributes/sso-team-id');
  const team = await scene.team(scene.owner, {}, trap);
  const changed = await scene.call(scene.owner, 'PATCH', `teams/${team.id}`, {
    data: { type: 'teams', attributes: { 'sso-team-id': group } },
  });
  expect(changed.status).toBe(422);
  const victim = await scene.signIn({ groups: [group] });
  const members = await scene.must(scene.owner, 'GET', `organizations/${trap}/organization-memberships`);
  expect(JSON.stringify(members)).not.toContain(victim.account.email);
});

it('groups map to teams of the bootstrap organization', async () => {
  const group = uniqueName('operators');
  const team = await scene.team(scene.owner, { 'sso-team-id': group });
  await scene.signIn({ groups: [group] });
  const { attributes } = await scene.must(scene.owner, 'GET', `teams/${team.id}`);
  expect(attributes['users-count']).toBe(1);
});

it('groups map to teams of listed organizations, and only listed users can create organizations', async () => {
  const open = await Scene.open({
    STEPFORM_ORGANIZATION_CREATORS: 'anyone',
    STEPFORM_SIGN_IN_GROUP_ORGANIZATIONS: 'local,named-one',
  });
  try {
    const user = await open.signIn();
    await open.must(user.token, 'POST', 'organizations', {
      data: { attributes: { name: 'named-one', email: 'n@example.test' } },
    });
    const group = uniqueName('group');
    const team = await open.team(user.token, { 'sso-team-id': group }, 'named-one');
    await open.signIn({ groups: [group] });
    expect((await open.must(user.token, 'GET', `teams/${team.id}`)).attributes['users-count']).toBe(1);
    const other = await open.organizationOf(user.token);
    const refused = await open.post(user.token, `organizations/${other}/teams`, {
      name: 'trap',
      'sso-team-id': group,
    });
    expect(refused.status).toBe(422);
  } finally {
    await open.close();
  }
});
