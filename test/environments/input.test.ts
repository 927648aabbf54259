import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actingAs } from '#test/support/api.ts';
import { type Environments, startEnvironments } from './support.ts';

/** Invalid input of the environments' API, and visibility of other users. */

let world: Environments;
beforeAll(async () => {
  world = await startEnvironments();
});
afterAll(() => world.api.close());

describe('unknown input', () => {
  it('in a body is refused by name, and nothing is created', async () => {
    const template = await world.addTemplate();
    const name = 'typo';
    const answer = await world.create(template, { name, autostart_shedule: '0 9 * * *' });
    expect([answer.status, answer.body.validations]).toEqual([
      400,
      [expect.objectContaining({ field: 'autostart_shedule' })],
    ]);
    expect((await world.call('GET', `/users/me/workspace/${name}`)).status).toBe(404);
    const deep = await world.create(template, { rich_parameter_values: [{ name: 'a', value: 'b', valu: 'c' }] });
    expect(deep.body.validations).toEqual([expect.objectContaining({ field: 'rich_parameter_values.0.valu' })]);
    for (const body of ['[]', '{"checks":[]}']) {
      expect((await world.call('POST', '/authcheck', { body })).status).toBe(400);
    }
  });

  it('in a query is refused by name', async () => {
    for (const path of ['/users', '/workspaces', '/templates', '/audit', '/organizations', '/users/me']) {
      const answer = await world.call('GET', `${path}?no_such=1`);
      expect([path, answer.status, answer.body.validations]).toEqual([
        path,
        400,
        [expect.objectContaining({ field: 'no_such' })],
      ]);
    }
  });

  it('to list the tokens of all users is rejected for every caller', async () => {
    expect((await world.call('GET', '/users/me/keys/tokens?include_all=false')).status).toBe(200);
    expect((await world.call('GET', '/users/me/keys/tokens?include_all=true')).status).toBe(400);
  });

  it('in the cookie of a session is 401', async () => {
    for (const cookie of ['%', '%ff', 'a b']) {
      expect(
        (await world.call('GET', '/users/me', { token: null, cookies: [`coder_session_token=${cookie}`] })).status,
      ).toBe(401);
    }
  });
});

it('the API lists builds after an id and since a time, with any UTC offset', async () => {
  const id = await world.running(await world.addTemplate());
  const [build] = (await world.call('GET', `/workspaces/${id}/builds`)).body;
  const at = Date.parse(build.created_at);
  const eastern = (ms: number) => `${new Date(ms + 5 * 3_600_000).toISOString().slice(0, -1)}%2B05:00`;
  const since = async (ms: number) => (await world.call('GET', `/workspaces/${id}/builds?since=${eastern(ms)}`)).body;
  expect(await since(at - 60_000)).toHaveLength(1);
  expect(await since(at + 60_000)).toEqual([]);
  expect((await world.call('GET', `/workspaces/${id}/builds?after_id=${build.id}`)).body).toEqual([]);
  expect((await world.call('GET', `/workspaces/${id}/builds?after_id=${id}`)).status).toBe(400);
});

it('the API shows roles of users in organizations that the caller shares, and not in others', async () => {
  const other = await world.members.withLevel('acme', 'read');
  const { id: ownId } = (await world.call('GET', '/organizations/acme', { token: world.api.token })).body;
  const own = actingAs(world.api, other.token);
  expect((await own.post('organizations', { name: 'side-project', email: 'a@b.test' })).status).toBe(201);
  const { username } = (await world.call('GET', '/users/me', { token: other.token })).body;
  const shown = (await world.call('GET', `/users/${username}`)).body;
  expect(shown).toMatchObject({ username, organization_ids: [ownId], roles: [] });
  const itself = (await world.call('GET', '/users/me', { token: other.token })).body;
  expect(itself.organization_ids).toHaveLength(2);
  expect(itself.roles).toHaveLength(1);
  const { users } = (await world.call('GET', `/users?q=email:${itself.email}`)).body;
  expect(users).toEqual([expect.objectContaining({ username, email: itself.email, organization_ids: [ownId] })]);
  expect((await world.call('GET', '/users?q=status:suspended')).body.users).toEqual([]);
});
