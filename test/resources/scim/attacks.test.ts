import { beforeAll, describe, expect, it, vi } from 'vitest';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { type Directory, directoryOf, errorSchema, sessionOf, signInAs, strangersOrganization } from './support.ts';

/** What a directory cannot do, nor a thief with its token. */

const api = await startApi();
const members = await memberHelpers();
const { routes } = await import('#public-api/scim.ts');
const acme = await directoryOf(api, 'acme');
let foreign: Awaited<ReturnType<typeof strangersOrganization>> & { directory: Directory };

beforeAll(async () => {
  const organization = await strangersOrganization(api);
  foreign = { ...organization, directory: await directoryOf(organization.as, organization.name) };
});

describe('tokens', () => {
  it('every route rejects a missing, unknown, expired or other kind of token with 401', async () => {
    const organizationToken = (await api.post('organizations/acme/authentication-token', {})).body.data.attributes
      .token;
    const { issueToken, findScimToken } = await import('#resources/users/tokens.ts');
    const own = await findScimToken(acme.token);
    const { secret: expired } = await issueToken({
      kind: 'scim',
      userId: own?.userId ?? '',
      organization: 'acme',
      description: null,
      expiredAt: new Date(Date.now() - 1).toISOString(),
    });
    for (const token of [
      null,
      'garbage',
      'sfscim_unknown',
      api.token,
      organizationToken,
      expired,
      foreign.directory.token,
    ]) {
      for (const { method, path } of routes) {
        const url = path.replace('{scimConfiguration}', acme.configuration).replace('{id}', 'x');
        const { status, body } = await api.call(method, url, { token, body: {} });
        expect([method, path, status, body.schemas]).toEqual([method, path, 401, [errorSchema]]);
      }
    }
  });

  it('a SCIM token is rejected by every route of the API', async () => {
    const { routes: others } = await import('#public-api/all-routes.ts');
    for (const [i, { method, path, access }] of others.entries()) {
      if (access === 'anyone') continue;
      // Unknown tokens count for their address.
      const address = `198.51.${i >> 8}.${i & 255}`;
      const { status } = await api.call(method, path.replaceAll(/\{\w+\+?\}/g, 'acme'), {
        token: acme.token,
        address,
        body: {},
      });
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });

  it('a SCIM token does not sign a user in', async () => {
    const { findToken } = await import('#resources/users/tokens.ts');
    expect(await findToken(acme.token)).toBeUndefined();
  });

  it('only owners create, list and revoke them', async () => {
    const at = `scim-configurations/${acme.configuration}/authentication-tokens`;
    const member = await members.member('acme');
    const manager = await members.withFlags('acme', 'manage-membership', 'manage-teams', 'manage-organization-access');
    const organizationToken = (await api.post('organizations/acme/authentication-token', {})).body.data.attributes
      .token;
    for (const token of [member.token, manager.token, organizationToken, foreign.owner.token]) {
      expect((await api.call('POST', at, { token, body: {} })).status).toBe(404);
      expect((await api.get(at, { token })).status).toBe(404);
      for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
        const { status } = await api.call(method, 'organizations/acme/scim-configuration', { token, body: {} });
        expect([403, 404]).toContain(status);
      }
    }
    const made = (await api.post(at, { description: 'second' })).body.data;
    const listed = (await api.get(at)).body.data.find(({ id }: { id: string }) => id === made.id);
    expect(listed.attributes).toMatchObject({ description: 'second', token: null, 'last-used-at': null });
    for (const token of [member.token, organizationToken, foreign.owner.token]) {
      expect((await api.call('DELETE', `authentication-tokens/${made.id}`, { token })).status).toBe(404);
    }
    const secret = made.attributes.token;
    expect((await acme.call('GET', '/Users', undefined, { token: secret })).status).toBe(200);
    expect((await api.get(`authentication-tokens/${made.id}`)).body.data.attributes['last-used-at']).not.toBeNull();
    expect((await api.call('DELETE', `authentication-tokens/${made.id}`)).status).toBe(204);
    expect((await acme.call('GET', '/Users', undefined, { token: secret })).status).toBe(401);
  });

  it('live for 30 days to one year', async () => {
    const at = `scim-configurations/${acme.configuration}/authentication-tokens`;
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    for (const days of [1, 400]) {
      const { status, body } = await api.post(at, { 'expired-at': inDays(days) });
      expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/attributes/expired-at']);
    }
    const { attributes } = (await api.post(at, {})).body.data;
    expect((Date.parse(attributes['expired-at']) - Date.now()) / 86_400_000).toBeGreaterThan(364);
  });

  it('are stored as hashes', async () => {
    const { keys } = await import('#platform/store/keys.ts');
    const { get } = await import('#platform/store/table.ts');
    const { hashSecret } = await import('#platform/store/id.ts');
    const item = await get(keys.token(hashSecret(acme.token)));
    expect(JSON.stringify(item)).not.toContain(acme.token);
    expect(item).toMatchObject({ kind: 'scim', organization: 'acme' });
  });
});

describe('other organizations', () => {
  it("a directory neither sees nor changes another directory's users and groups", async () => {
    const user = await acme.user('mine@acme.test');
    const group = await acme.group('Mine', { members: [{ value: user.id }] });
    const { call } = foreign.directory;
    for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const { status } = await call(method, path, { userName: 'x', displayName: 'x', Operations: [] });
        expect([method, path, status]).toEqual([method, path, 404]);
      }
    }
    for (const filter of [`id eq "${user.id}"`, 'userName eq "mine@acme.test"', 'emails.value eq "mine@acme.test"']) {
      expect((await call('GET', `/Users?${new URLSearchParams({ filter })}`)).body.totalResults).toBe(0);
    }
    const stolen = await call('POST', '/Groups', { displayName: 'Stolen', members: [{ value: user.id }] });
    expect(stolen.status).toBe(400);
    expect((await acme.call('GET', `/Users/${user.id}`)).body).toMatchObject({ active: true });
  });

  it('an account of another organization is invited, not taken over: its user has to accept', async () => {
    const victim = await members.newUser(uniqueName('victim'));
    const { getUser } = await import('#resources/users/users.ts');
    const address = (await getUser(victim.id))?.email ?? '';
    const user = await foreign.directory.user(address);
    const { getMembershipOrInvitation } = await import('#resources/users/memberships.ts');
    expect((await getMembershipOrInvitation(victim.id, foreign.name))?.invitation).toEqual({ email: address });
    expect((await api.get(`organizations/${foreign.name}`, { token: victim.token })).status).toBe(404);
    // Neither the account's address nor its name changes with the directory's.
    await foreign.directory.patch(`/Users/${user.id}`, {
      op: 'replace',
      path: 'emails',
      value: [{ value: 'mallory@evil.test' }],
    });
    expect((await getUser(victim.id))?.email).toBe(address);
    await foreign.directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
    await foreign.directory.call('DELETE', `/Users/${user.id}`);
    expect((await api.get('account/details', { token: victim.token })).status).toBe(200);
  });

  it('deactivation keeps the tokens of an account that belongs to another organization', async () => {
    const consultant = await members.owner('acme');
    const { getUser } = await import('#resources/users/users.ts');
    const { addMember } = await import('#resources/users/memberships.ts');
    await addMember(foreign.name, consultant.id);
    const user = await foreign.directory.user((await getUser(consultant.id))?.email ?? '');
    expect((await api.get(`organizations/${foreign.name}`, { token: consultant.token })).status).toBe(200);
    await foreign.directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
    expect((await api.get(`organizations/${foreign.name}`, { token: consultant.token })).status).toBe(404);
    expect((await api.get('organizations/acme', { token: consultant.token })).status).toBe(200);
    // The kept token stays rejected here.
    await foreign.directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: true });
    expect((await api.get(`organizations/${foreign.name}`, { token: consultant.token })).status).toBe(401);
    expect((await api.get('organizations/acme', { token: consultant.token })).status).toBe(200);
  });

  it('a changed address does not redirect the invitation of another organization', async () => {
    const address = `${uniqueName('shared')}@x.test`;
    await api.post('organizations/acme/organization-memberships', { email: address });
    const user = await foreign.directory.user(address);
    await foreign.directory.patch(`/Users/${user.id}`, {
      op: 'replace',
      path: 'emails',
      value: [{ value: 'mallory2@evil.test' }],
    });
    const mallory = await signInAs('mallory2@evil.test');
    const token = await sessionOf(mallory);
    expect((await api.get('organizations/acme', { token })).status).toBe(404);
    expect((await api.get(`organizations/${foreign.name}`, { token })).status).toBe(200);
    const invited = (await api.get(`organizations/acme/organization-memberships?filter[email]=${address}`)).body.data;
    expect(invited[0].attributes.status).toBe('invited');
  });

  it('no user acts as a provisioned user without a verified sign-in with the address', async () => {
    const address = `${uniqueName('unverified')}@acme.test`;
    await acme.user(address);
    const { userOf } = await import('#resources/sign-in/people.ts');
    const person = {
      issuer: 'https://issuer.test',
      subject: uniqueName('mallory'),
      email: address,
      emailVerified: false,
    };
    const token = await sessionOf((await userOf(person)).id);
    expect((await api.get('organizations/acme', { token })).status).toBe(404);
  });

  it('two provisioned users are never linked to one account', async () => {
    const address = `${uniqueName('one')}@acme.test`;
    await acme.user(address);
    const userId = await signInAs(address);
    const { linkEmail } = await import('#resources/users/invitations.ts');
    const second = `${uniqueName('two')}@acme.test`;
    await linkEmail(second, userId);
    const { status, body } = await acme.call('POST', '/Users', { userName: second });
    expect([status, body.scimType]).toEqual([409, 'uniqueness']);
    expect(
      (await acme.call('GET', `/Users?${new URLSearchParams({ filter: `userName eq "${second}"` })}`)).body
        .totalResults,
    ).toBe(0);
  });
});

describe('teams', () => {
  it('a group does not take over a team by its name; owners link it with sso-team-id', async () => {
    const { data: team } = (await api.post('organizations/acme/teams', { name: 'Admins' })).body;
    const admin = await members.newUser(uniqueName('admin'));
    const { addMember } = await import('#resources/users/memberships.ts');
    const { enterTeam } = await import('#resources/teams/members.ts');
    const { getTeam } = await import('#resources/teams/records.ts');
    await addMember('acme', admin.id);
    await enterTeam((await getTeam(team.id)) ?? team, [admin.id]);
    const user = await acme.user('climber@acme.test');
    const refused = await acme.call('POST', '/Groups', { displayName: 'Admins', members: [{ value: user.id }] });
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('sso-team-id')]);
    expect((await api.get(`teams/${team.id}`)).body.data.attributes).toMatchObject({
      'users-count': 1,
      'scim-linked': false,
    });

    await api.patch(`teams/${team.id}`, { 'sso-team-id': 'group-17' });
    const linked = await acme.group('Admins of everything!', { externalId: 'group-17', members: [{ value: user.id }] });
    expect(linked.id).toBe(team.id);
    const shown = (await api.get(`teams/${team.id}?include=users`)).body.data;
    expect(shown.attributes).toMatchObject({ name: 'Admins', 'scim-group-name': 'Admins of everything!' });
    expect(shown.relationships.users.data.map(({ id }: { id: string }) => id)).not.toContain(admin.id);
    const manual = await api.call('POST', `teams/${team.id}/relationships/users`, {
      body: { data: [{ type: 'users', id: admin.id }] },
    });
    expect(detailOf(manual)).toEqual([409, expect.stringContaining('directory')]);
    // A linked team outlives the group, without its members.
    await acme.call('DELETE', `/Groups/${team.id}`);
    expect((await api.get(`teams/${team.id}`)).body.data.attributes).toMatchObject({
      'users-count': 0,
      'scim-linked': false,
    });
  });

  it('no user becomes an owner, even if the owners team has the sso-team-id of the group', async () => {
    const { data: teams } = (await api.get('organizations/acme/teams')).body;
    const owners = teams.find(({ attributes }: { attributes: { name: string } }) => attributes.name === 'owners').id;
    await api.patch(`teams/${owners}`, { 'sso-team-id': 'platform-owners' });
    const user = await acme.user('usurper@acme.test');
    const group = await acme.group('platform-owners', { members: [{ value: user.id }] });
    expect(group.id).not.toBe(owners);
    const { status } = await acme.patch(`/Groups/${owners}`, {
      op: 'add',
      path: 'members',
      value: [{ value: user.id }],
    });
    expect(status).toBe(404);
    const userId = await signInAs('usurper@acme.test');
    const { getMembership, roleOf } = await import('#resources/users/memberships.ts');
    const membership = await getMembership(userId, 'acme');
    expect(membership && roleOf(membership)).toBe('member');
  });

  it('groups of the issuer do not change a team that the directory manages', async () => {
    const { data: team } = (await api.post('organizations/acme/teams', { name: 'Linked', 'sso-team-id': 'both' })).body;
    const user = await acme.user('both@acme.test');
    await acme.group('both', { members: [{ value: user.id }] });
    const userId = await signInAs('both@acme.test');
    const stranger = await signInAs(`${uniqueName('claims')}@acme.test`);
    const { followGroups } = await import('#resources/sign-in/groups.ts');
    await followGroups(userId, []);
    await followGroups(stranger, ['both']);
    const { data } = (await api.get(`teams/${team.id}?include=users`)).body;
    expect(data.relationships.users.data).toEqual([{ type: 'users', id: userId }]);
  });
});

describe('disabled provisioning', () => {
  it('rejects changes with 403, answers discovery, and ends with the configuration', async () => {
    const name = uniqueName('ended');
    await api.post('organizations', { name, email: 'o@b.test' });
    const directory = await directoryOf(api, name);
    const user = await directory.user('stays@acme.test');
    const group = await directory.group('Stays', { members: [{ value: user.id }] });
    const path = `organizations/${name}/scim-configuration`;
    expect((await api.get(path)).body.data).toMatchObject({
      id: directory.configuration,
      type: 'scim-configurations',
      attributes: { enabled: true, 'base-url': `https://api.example.test/scim/v2/${directory.configuration}` },
    });
    expect((await api.post(path)).status).toBe(409);
    expect((await api.call('DELETE', path)).status).toBe(409);
    await api.patch(path, { enabled: false });
    expect((await directory.call('GET', '/Users')).status).toBe(403);
    expect((await directory.call('GET', '/ServiceProviderConfig')).status).toBe(200);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await directory.call('GET', '/ServiceProviderConfig')).status).toBe(401);
    expect((await api.get(path)).status).toBe(404);
    const { attributes } = (await api.get(`teams/${group.id}`)).body.data;
    expect(attributes).toMatchObject({ 'scim-linked': false, 'users-count': 1 });
    const again = await directoryOf(api, name);
    expect((await again.call('GET', '/Users')).body.totalResults).toBe(0);
    expect((await again.user('stays@acme.test')).active).toBe(true);
  });

  it('an IP allowlist applies to directories, too', async () => {
    const name = uniqueName('walled');
    await api.post('organizations', { name, email: 'o@b.test' });
    const directory = await directoryOf(api, name);
    const list = (
      await api.post(`organizations/${name}/cidr-range-lists`, { name: 'office', 'enforcement-scope': 'organization' })
    ).body.data;
    await api.post(`cidr-range-lists/${list.id}/relationships/cidr-ranges`, { range: '203.0.113.0/24' });
    expect((await directory.call('GET', '/Users')).status).toBe(403);
    expect((await directory.call('GET', '/Users', undefined, { address: '203.0.113.9' })).status).toBe(200);
  });
});

it('bodies above 1 MB and groups of more than 1000 members are rejected', async () => {
  const large = await acme.call('POST', '/Users', { userName: 'x'.repeat(1024 * 1024) });
  expect([large.status, large.body.schemas]).toEqual([413, [errorSchema]]);
  const many = Array.from({ length: 1001 }, (_, i) => ({ value: `scimid-${i}` }));
  expect((await acme.call('POST', '/Groups', { displayName: 'Many', members: many })).status).toBe(400);
});

it.each([
  ['InsufficientStorage', 507, 'The disk of this platform is full'],
  ['Unknown', 500, 'Internal error'],
])('a failure %s of the table is logged, and answered with %i and no detail of it', async (name, status, text) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  api.aws.gate = () => Promise.reject(Object.assign(new Error('of the table'), { name }));
  const answer = await acme.call('GET', '/Users');
  api.aws.gate = undefined;
  expect(answer).toMatchObject({ status, body: { schemas: [errorSchema], status: String(status) } });
  expect(answer.body.detail).toContain(text);
  expect(JSON.stringify(answer.body)).not.toContain('of the table');
  expect(String(log.mock.calls[0]?.[0])).toContain('of the table');
  log.mockRestore();
});
