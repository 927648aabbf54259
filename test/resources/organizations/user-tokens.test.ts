import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Organizations that do not accept user tokens. */

const api = await startApi();
const members = await memberHelpers();

interface Named {
  id: string;
  attributes: { name: string };
}

/** An organization with a workspace, and the token of its owners team. */
const make = async () => {
  const name = uniqueName('closed');
  await api.post('organizations', { name, email: 'a@b.test' });
  const workspace = (await api.post(`organizations/${name}/workspaces`, { name: 'w' })).body.data.id;
  const { data: teams } = (await api.get(`organizations/${name}/teams`)).body;
  const owners = teams.find(({ attributes }: Named) => attributes.name === 'owners').id;
  const { token } = (await api.post(`teams/${owners}/authentication-token`, {})).body.data.attributes;
  const set = (enabled: boolean) =>
    api.call('PATCH', `organizations/${name}`, {
      token,
      body: { data: { attributes: { 'user-tokens-enabled': enabled } } },
    });
  return { name, workspace, token, set };
};

const namesFor = async (token: string): Promise<string[]> =>
  (await api.get('organizations?page[size]=100', { token })).body.data.map(({ id }: Named) => id);

describe('an organization that does not accept user tokens', () => {
  it('rejects them with 401 everywhere, but not tokens of teams', async () => {
    const { name, workspace, token, set } = await make();
    expect((await api.get(`organizations/${name}`)).body.data.attributes['user-tokens-enabled']).toBe(true);
    expect((await set(false)).body.data.attributes['user-tokens-enabled']).toBe(false);
    for (const path of [`organizations/${name}`, `workspaces/${workspace}`, `organizations/${name}/workspaces/w`]) {
      const { status, body } = await api.get(path);
      expect([path, status, body.errors[0].title]).toEqual([path, 401, 'unauthorized']);
      expect((await api.get(path, { token })).status).toBe(200);
    }
    expect((await api.call('DELETE', `workspaces/${workspace}`)).status).toBe(401);
    expect(await namesFor(api.token)).not.toContain(name);
    expect((await set(true)).status).toBe(200);
    expect((await api.get(`workspaces/${workspace}`)).status).toBe(200);
    expect(await namesFor(api.token)).toContain(name);
  });

  it('is 404 for strangers, and for later members with a token', async () => {
    const { name, set } = await make();
    await set(false);
    const stranger = await members.newUser('stranger');
    expect((await api.get(`organizations/${name}`, { token: stranger.token })).status).toBe(404);
    const { addMember } = await import('#resources/users/memberships.ts');
    await addMember(name, stranger.id);
    expect((await api.get(`organizations/${name}`, { token: stranger.token })).status).toBe(401);
  });

  it('admits users on the page', async () => {
    const { name, set } = await make();
    await set(false);
    const { issueSession } = await import('#resources/users/tokens.ts');
    const { data: me } = (await api.get('account/details')).body;
    const secret = await issueSession(me.id, new Date(Date.now() + 60_000).toISOString());
    expect((await api.get(`organizations/${name}`, { token: secret })).status).toBe(200);
  });
});
