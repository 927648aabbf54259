import { expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** A user who manages teams can revoke tokens of those teams and of no others. */

const scene = await Scene.open();

it('team managers cannot revoke tokens of the owners team and of secret teams', async () => {
  const manager = await scene.team(scene.owner, { 'organization-access': { 'manage-teams': true } });
  const email = `${uniqueName('manager')}@example.test`;
  await scene.invite(email, [manager.id]);
  const mallory = await scene.signIn({ email });
  const owners = (
    await scene.must(scene.owner, 'GET', `organizations/${scene.organization}/teams?filter[names]=owners`)
  )[0];
  const secret = await scene.team(scene.owner, { visibility: 'secret' });
  const visible = await scene.team(scene.owner, { visibility: 'organization' });
  const make = (teamId: string) =>
    scene.must(scene.owner, 'POST', `teams/${teamId}/authentication-tokens`, {
      data: { attributes: { description: uniqueName('ci') } },
    });
  const untouched = [await make(owners.id), await make(secret.id)];
  const ended = await make(visible.id);
  const path = `organizations/${scene.organization}/team-tokens`;
  const bulk = (ids: string[]) =>
    scene.call(mallory.token, 'DELETE', path, { data: ids.map((id) => ({ type: 'authentication-tokens', id })) });
  for (const { id } of untouched) {
    expect((await scene.call(mallory.token, 'DELETE', `authentication-tokens/${id}`)).status).toBe(404);
    await bulk([id]);
  }
  await bulk([...untouched, ended].map(({ id }) => id));
  for (const { attributes } of untouched) {
    expect((await scene.get(attributes.token, 'account/details')).status).toBe(200);
  }
  expect((await bulk([ended.id])).status).toBe(204);
  expect((await scene.get(ended.attributes.token, 'account/details')).status).toBe(401);
});
