import { expect, it } from 'vitest';
import { Scene } from './support.ts';

/** A name that looks like another user's id receives nothing that is meant for that user. */

const scene = await Scene.open({ STEPFORM_ORGANIZATION_CREATORS: 'anyone' });

it('a user whose username is the id of another user does not become a team member in their place', async () => {
  const victim = await scene.signIn();
  const mallory = await scene.signIn();
  const { id } = await scene.invite(mallory.account.email ?? '');
  await scene.must(mallory.token, 'POST', `organization-memberships/${id}/actions/accept`);
  const renamed = await scene.call(mallory.token, 'PATCH', 'account/update', {
    data: { type: 'users', attributes: { username: victim.id } },
  });
  expect(renamed.status).toBe(422);
  const team = await scene.team(scene.owner);
  // The owner means the victim, who has not accepted an invitation yet.
  const added = await scene.call(scene.owner, 'POST', `teams/${team.id}/relationships/users`, {
    data: [{ type: 'users', id: victim.id }],
  });
  expect(added.status).toBe(422);
  expect((await scene.must(scene.owner, 'GET', `teams/${team.id}`)).attributes['users-count']).toBe(0);
});

it('a user of the issuer gets no username in the form of another user’s id', async () => {
  const victim = await scene.signIn();
  const mallory = await scene.signIn({ preferred_username: victim.id });
  expect((await scene.must(mallory.token, 'GET', 'account/details')).attributes.username).not.toBe(victim.id);
});

it('an organization is found by its id before one whose name equals that id', async () => {
  const { environmentsUrl } = scene.platform.local;
  const ask = async (token: string, path: string) => {
    const answer = await fetch(`${environmentsUrl}/api/v2${path}`, { headers: { 'coder-session-token': token } });
    return (await answer.json()) as { id: string; name: string };
  };
  const victim = await scene.signIn();
  const home = await scene.organizationOf(victim.token);
  const { id } = await ask(victim.token, `/organizations/${home}`);
  const mallory = await scene.signIn();
  // First in the order of names.
  const named = await scene.post(mallory.token, 'organizations', { name: id, email: 'm@example.test' });
  expect(named.status).toBe(201);
  const invitation = await scene.invite(victim.account.email ?? '', [], mallory.token, id);
  await scene.must(victim.token, 'POST', `organization-memberships/${invitation.id}/actions/accept`);
  expect((await ask(victim.token, `/organizations/${id}`)).name).toBe(home);
});
