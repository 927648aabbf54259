import { expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** The organization's token, which CI systems hold, never becomes an owner. */

const scene = await Scene.open();
const path = `organizations/${scene.organization}`;
const token = (await scene.must(scene.owner, 'POST', `${path}/authentication-token`)).attributes.token;
const owners = (await scene.must(token, 'GET', `${path}/teams?filter[names]=owners`))[0].id;

it('the organization token cannot create a token of the owners team', async () => {
  const legacy = await scene.call(token, 'POST', `teams/${owners}/authentication-token`);
  const described = await scene.post(token, `teams/${owners}/authentication-tokens`, { description: uniqueName('ci') });
  expect([legacy.status, described.status]).toEqual([403, 403]);
});

it('the organization token cannot add members to the owners team', async () => {
  const mallory = await scene.signIn();
  const { id } = await scene.invite(mallory.account.email ?? '', [], token);
  await scene.must(mallory.token, 'POST', `organization-memberships/${id}/actions/accept`);
  const enter = (kind: string, member: object) =>
    scene.call(token, 'POST', `teams/${owners}/relationships/${kind}`, { data: [member] });
  expect((await enter('users', { type: 'users', id: mallory.id })).status).toBe(403);
  expect((await enter('organization-memberships', { type: 'organization-memberships', id })).status).toBe(403);
  const invited = await scene.post(
    token,
    `organizations/${scene.organization}/organization-memberships`,
    { email: `${uniqueName('mallory')}@example.test` },
    { teams: { data: [{ type: 'teams', id: owners }] } },
  );
  expect(invited.status).toBe(403);
});

it('the organization token cannot map a group to the owners team', async () => {
  const group = uniqueName('group');
  const changed = await scene.call(token, 'PATCH', `teams/${owners}`, {
    data: { type: 'teams', attributes: { 'sso-team-id': group } },
  });
  expect(changed.status).toBe(403);
  const { token: mallory } = await scene.signIn({ groups: [group] });
  expect((await scene.get(mallory, `organizations/${scene.organization}`)).status).toBe(404);
});
