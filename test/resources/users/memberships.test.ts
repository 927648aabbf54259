import { describe, expect, it } from 'vitest';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { ids } from '#test/support/runs.ts';

const api = await startApi();
const members = await memberHelpers();

const path = 'organizations/acme/organization-memberships';
const invite = (email: string, teamIds: string[] = [], token?: string) =>
  api.post(path, { email }, { teams: { data: teamIds.map((id) => ({ type: 'teams', id })) } }, { token });
const newTeam = async (attributes: object = {}) =>
  (await api.post('organizations/acme/teams', { name: uniqueName('t'), ...attributes })).body.data.id as string;
const signIn = async (email: string, emailVerified = true) => {
  const { userOf } = await import('#resources/sign-in/people.ts');
  const { createToken } = await import('#resources/users/tokens.ts');
  const subject = uniqueName('subject');
  const user = await userOf({
    issuer: 'https://issuer.test',
    subject,
    email,
    emailVerified,
    username: 'newcomer',
  } as never);
  return { id: user.id, token: (await createToken(user.id, '')).secret };
};

describe('an invitation', () => {
  it('is pending until a user signs in with the address, then grants the teams', async () => {
    const teamId = await newTeam({ 'organization-access': { 'read-workspaces': true } });
    const response = await invite('New@comer.test', [teamId]);
    expect(response.status).toBe(201);
    const { id, attributes, relationships } = response.body.data;
    expect(id).toMatch(/^ou-/);
    expect(attributes).toMatchObject({ status: 'invited', email: 'New@comer.test' });
    expect(ids(relationships.teams.data)).toEqual([teamId]);
    expect(response.body.included[0]).toMatchObject({ type: 'users', attributes: { username: null } });
    expect((await invite('new@comer.test')).status).toBe(422);
    const unverified = await signIn('new@comer.test', false);
    expect((await api.get('organizations/acme', unverified)).status).toBe(404);
    const { id: userId, token } = await signIn('new@comer.test');
    expect(relationships.user.data.id).toBe(userId);
    const workspace = await api.workspace();
    expect((await api.get(`workspaces/${workspace.id}`, { token })).status).toBe(200);
    expect((await api.get(`organization-memberships/${id}`)).body.data.attributes.status).toBe('active');
    const mine = await api.get('organization-memberships?include=organization', { token });
    expect([ids(mine.body.data), ids(mine.body.included)]).toEqual([[id], ['acme']]);
  });

  it('to an existing user becomes a membership once accepted', async () => {
    const { token } = await signIn('known@comer.test');
    const { id, attributes } = (await invite('known@comer.test')).body.data;
    expect(attributes).toMatchObject({ status: 'invited', email: 'known@comer.test' });
    expect((await api.get('organizations/acme', { token })).status).toBe(404);
    const accept = (sent: object) => api.call('POST', `organization-memberships/${id}/actions/accept`, sent);
    expect((await accept({})).status).toBe(403);
    expect((await accept({ token })).body.data.attributes.status).toBe('active');
    expect((await api.get('organizations/acme', { token })).status).toBe(200);
    expect((await accept({ token })).status).toBe(200);
  });

  it('is not given to a user with an unverified address', async () => {
    const { token } = await members.newUser('liar');
    const body = { data: { attributes: { email: 'victim@comer.test' } } };
    expect((await api.call('PATCH', 'account/update', { token, body })).status).toBe(200);
    expect((await invite('victim@comer.test')).body.data.attributes.status).toBe('invited');
    expect((await api.get('organizations/acme', { token })).status).toBe(404);
  });

  it('is transferred to the user who verifies the address', async () => {
    const { userOf } = await import('#resources/sign-in/people.ts');
    const { createToken } = await import('#resources/users/tokens.ts');
    const person = {
      issuer: 'https://issuer.test',
      subject: uniqueName('s'),
      email: 'late@comer.test',
      username: 'late',
    };
    const { id } = await userOf({ ...person, emailVerified: false } as never);
    const teamId = await newTeam();
    const response = await invite('late@comer.test', [teamId]);
    await userOf({ ...person, emailVerified: true } as never);
    const { secret: token } = await createToken(id, '');
    const [own] = (await api.get('organization-memberships?filter[status]=invited', { token })).body.data;
    expect((await api.get(`teams/${teamId}`, { token })).status).toBe(404);
    await api.call('POST', `organization-memberships/${own.id}/actions/accept`, { token });
    expect((await api.get(`teams/${teamId}`, { token })).status).toBe(200);
    expect((await api.get(`organization-memberships/${response.body.data.id}`)).status).toBe(404);
  });

  it('needs the permission to manage members, and cannot add to invisible teams or owners', async () => {
    const visible = await newTeam({ visibility: 'organization' });
    const owners = (await api.get('organizations/acme/teams?filter[names]=owners')).body.data[0].id;
    const { token } = await members.withFlags('acme', 'manage-membership');
    expect((await invite('a@comer.test', [visible], token)).status).toBe(201);
    expect((await invite('b@comer.test', [await newTeam()], token)).status).toBe(422);
    expect((await invite('c@comer.test', [owners], token)).status).toBe(403);
    const { token: plain } = await members.member('acme');
    expect((await invite('d@comer.test', [], plain)).status).toBe(403);
    expect((await invite('no address')).status).toBe(422);
  });
});

describe('memberships', () => {
  it('are listed by name, address and status, with counts', async () => {
    await invite('find@me.test');
    const by = async (query: string) => {
      const { body } = await api.get(`${path}?${query}&include=user,teams`);
      return body.data.map(({ attributes }: { attributes: { email: string } }) => attributes.email);
    };
    expect(await by('q=FIND@')).toEqual(['find@me.test']);
    expect(await by('filter[email]=find@me.test,owner@acme.test')).toHaveLength(2);
    expect(await by('filter[status]=invited')).toContain('find@me.test');
    expect(await by('filter[status]=active')).not.toContain('find@me.test');
    const { meta } = (await api.get(path)).body;
    expect(meta['status-counts'].total).toBe(meta.pagination['total-count']);
    const { token } = await members.member('acme');
    expect((await api.get(path, { token })).status).toBe(403);
  });

  it('end immediately when a manager or the member ends them', async () => {
    const { id: userId, token } = await members.member('acme');
    const [mine] = (await api.get('organization-memberships', { token })).body.data;
    const other = await members.member('acme');
    expect((await api.call('DELETE', `organization-memberships/${mine.id}`, { token: other.token })).status).toBe(404);
    expect((await api.get(`organization-memberships/${mine.id}`, { token })).status).toBe(200);
    const teamId = await newTeam();
    await api.call('POST', `teams/${teamId}/relationships/users`, { body: { data: [{ type: 'users', id: userId }] } });
    expect((await api.call('DELETE', `organization-memberships/${mine.id}`, { token })).status).toBe(204);
    expect((await api.get('organizations/acme', { token })).status).toBe(404);
    expect((await api.get(`teams/${teamId}`)).body.data.attributes['users-count']).toBe(0);
    expect((await api.call('DELETE', `organization-memberships/${mine.id}`)).status).toBe(404);
  });

  it('of owners can be ended only by owners, and never for the last owner', async () => {
    const { token } = await members.withFlags('acme', 'manage-membership');
    const [own] = (await api.get('organization-memberships')).body.data;
    const end = (as?: string) => api.call('DELETE', `organization-memberships/${own.id}`, { token: as });
    expect((await end(token)).status).toBe(403);
    const last = await end();
    expect(detailOf(last)).toEqual([409, expect.stringContaining('needs at least one owner')]);
    const owners = (await api.get('organizations/acme/teams?filter[names]=owners')).body.data[0].id;
    await invite('future@owner.test', [owners]);
    expect((await end()).status).toBe(409);
  });
});
