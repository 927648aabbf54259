import { expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** Actions of a member of many organizations appear in the audit trail of all of them. */

const many = 101;

const scene = await Scene.open({ STEPFORM_ORGANIZATION_CREATORS: 'anyone' });

it('the audit trails of all organizations have a new token of a member of more than 100', async () => {
  const mallory = await scene.signIn();
  // Earlier code left out the last organization by name.
  const last = `zz-${uniqueName('victim')}`;
  const create = (name: string, token: string) =>
    scene.must(token, 'POST', 'organizations', { data: { attributes: { name, email: 'o@example.test' } } });
  await create(last, scene.owner);
  const { id } = await scene.invite(mallory.account.email ?? '', [], scene.owner, last);
  await scene.must(mallory.token, 'POST', `organization-memberships/${id}/actions/accept`);
  const prefix = uniqueName('decoy');
  for (let i = 0; i < many; i++) await create(`${prefix}-${i}`, mallory.token);
  const issued = await scene.must(mallory.token, 'POST', `users/${mallory.id}/authentication-tokens`, {
    data: { attributes: { description: 'unseen' } },
  });
  const path = `organization/audit-trail?filter[organization][name]=${last}&sort=-timestamp`;
  const trail = (await scene.get(scene.owner, path)).body.data;
  expect(trail.map(({ resource }: { resource: { id: string } }) => resource.id)).toContain(issued.id);
  const listed = await scene.get(mallory.token, 'organizations?page[size]=100&page[number]=2');
  expect(listed.body.data.map(({ id: name }: { id: string }) => name)).toContain(last);
});
