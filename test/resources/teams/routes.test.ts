import { describe, expect, it } from 'vitest';
import type { Team } from '#resources/teams/team.ts';
import { detailOf, pointerOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { ids } from '#test/support/runs.ts';

const api = await startApi();
const store = { ...(await import('#platform/store/table.ts')), ...(await import('#platform/store/keys.ts')) };
const members = await memberHelpers();

const create = (attributes: object = {}, token?: string) =>
  api.post('organizations/acme/teams', { name: uniqueName('t'), ...attributes }, {}, { token });
const team = async (attributes: object = {}) => (await create(attributes)).body.data;
const users = (...ids: string[]) => ({ body: { data: ids.map((id) => ({ type: 'users', id })) } });

describe('a team', () => {
  it('has each permission alone when the others are false, as sent by the tfe provider', async () => {
    const { organizationFlags } = await import('#api/permissions/organization-flags.ts');
    const { id } = await team();
    const needs: Record<string, string> = {
      'manage-projects': 'manage-workspaces',
      'read-projects': 'read-workspaces',
    };
    for (const flag of organizationFlags) {
      const access = Object.fromEntries(organizationFlags.map((one) => [one, one === flag || one === needs[flag]]));
      const { status, body } = await api.patch(`teams/${id}`, { 'organization-access': access });
      expect([flag, status]).toEqual([flag, 200]);
      expect(body.data.attributes['organization-access']).toEqual(access);
      expect((await api.get(`teams/${id}`)).body.data.attributes['organization-access']).toEqual(access);
    }
  });

  it('has a group of the issuer only where the operator allows mapping groups, or without a groups claim', async () => {
    const mapped = { name: uniqueName('mapped'), 'sso-team-id': 'net' };
    const { id } = (await create({ 'sso-team-id': 'before' })).body.data;
    process.env.ORGANIZATION_RULES = JSON.stringify({ creators: 'anyone', groups: ['other'], readsGroups: true });
    for (const refused of [await create(mapped), await api.patch(`teams/${id}`, { 'sso-team-id': 'net' })]) {
      expect(pointerOf(refused)).toEqual([422, '/data/attributes/sso-team-id']);
    }
    expect((await create()).status).toBe(200);
    for (const same of [{ 'sso-team-id': 'before' }, { visibility: 'organization' }]) {
      expect((await api.patch(`teams/${id}`, same)).status).toBe(200);
    }
    process.env.ORGANIZATION_RULES = JSON.stringify({ creators: 'anyone', groups: ['acme'], readsGroups: true });
    expect((await create(mapped)).status).toBe(200);
    process.env.ORGANIZATION_RULES = JSON.stringify({ creators: 'anyone', groups: ['other'], readsGroups: false });
    expect((await create({ ...mapped, name: uniqueName('later') })).status).toBe(200);
    delete process.env.ORGANIZATION_RULES;
    expect((await create({ ...mapped, name: uniqueName('unmapped') })).status).toBe(200);
  });

  it('can be created, read, listed, changed and deleted', async () => {
    const name = uniqueName('network');
    const response = await create({ name, 'sso-team-id': 'west', 'organization-access': { 'manage-policies': true } });
    expect(response.status).toBe(200);
    const { id, attributes, relationships, links } = response.body.data;
    expect(id).toMatch(/^team-/);
    expect(attributes).toMatchObject({
      name,
      'sso-team-id': 'west',
      'users-count': 0,
      visibility: 'secret',
      'allow-member-token-management': true,
      'organization-access': { 'manage-policies': true, 'manage-workspaces': false, 'manage-vcs-settings': false },
      permissions: { 'can-update-membership': true, 'can-destroy': true, 'can-update-organization-access': true },
    });
    expect(relationships.users.data).toEqual([]);
    expect(links.self).toBe(`/api/v2/teams/${id}`);
    expect((await api.get(`teams/${id}`)).body).toEqual({ data: response.body.data });
    const { body } = await api.get(`organizations/acme/teams?q=${name.toUpperCase()}`);
    expect([ids(body.data), body.meta.pagination['total-count']]).toEqual([[id], 1]);
    expect(ids((await api.get(`organizations/acme/teams?filter[names]=${name},none`)).body.data)).toEqual([id]);
    const { teamIdsOfGroups } = await import('#resources/users/sso-groups.ts');
    const changed = await api.patch(`teams/${id}`, {
      name: `${name}-2`,
      visibility: 'organization',
      'sso-team-id': 'east',
    });
    expect([await teamIdsOfGroups(['west']), await teamIdsOfGroups(['east'])]).toEqual([[], [id]]);
    const { getTeam, updateTeam } = await import('#resources/teams/records.ts');
    const stale = { userId: api.userId, edits: 0 };
    const record = (await getTeam(id)) as Team;
    await updateTeam(record, { visibility: 'organization' }, { userId: api.userId });
    expect(await updateTeam(record, { ssoTeamId: 'north' }, stale), 'changed meanwhile').toBeUndefined();
    expect([await teamIdsOfGroups(['east']), await teamIdsOfGroups(['north'])]).toEqual([[id], []]);
    expect(changed.body.data.attributes).toMatchObject({
      name: `${name}-2`,
      visibility: 'organization',
      'organization-access': { 'manage-policies': true },
    });
    expect((await create({ name })).status).toBe(200);
    const member = await members.member('acme');
    const workspace = (await api.workspace()).id;
    await api.call('POST', `teams/${id}/relationships/users`, users(member.id));
    const on = { workspace: { data: { type: 'workspaces', id: workspace } }, team: { data: { type: 'teams', id } } };
    expect((await api.post('team-workspaces', { access: 'read' }, on)).status).toBe(201);
    expect((await api.post(`teams/${id}/authentication-token`, {})).status).toBe(201);
    expect((await api.call('DELETE', `teams/${id}`)).status).toBe(204);
    expect((await api.get(`teams/${id}`)).status).toBe(404);
    const left = api.aws.items().filter((item) => JSON.stringify(item).includes(id));
    // The audit trail, and the account to which it refers.
    expect(left.filter(({ pk, sk }) => !String(pk).startsWith('AUDIT#') && sk !== 'USER')).toEqual([]);
  });

  it('has a unique name', async () => {
    const { attributes } = await team();
    const { id } = await team();
    for (const name of [attributes.name, 'owners', 'Owners']) {
      for (const answer of [await create({ name }), await api.patch(`teams/${id}`, { name })])
        expect(detailOf(answer)).toEqual([422, 'Name has already been taken']);
    }
    for (const name of ['with space', 'with/slash']) {
      const { id, attributes } = (await create({ name: uniqueName(name) })).body.data;
      const named = encodeURIComponent(attributes.name);
      expect(ids((await api.get(`organizations/acme/teams?filter[names]=${named}`)).body.data)).toEqual([id]);
    }
    for (const name of [' before', 'after ', 'a.b']) expect((await create({ name })).status).toBe(422);
  });

  it('has the permissions that its flags include', async () => {
    const { id, attributes } = await team({ 'organization-access': { 'manage-projects': true } });
    expect(attributes['organization-access']).toMatchObject({
      'manage-projects': true,
      'manage-workspaces': true,
      'read-projects': true,
      'read-workspaces': true,
    });
    const less = await api.patch(`teams/${id}`, { 'organization-access': { 'manage-workspaces': false } });
    expect(less.body.data.attributes['organization-access']).toMatchObject({
      'manage-projects': false,
      'manage-workspaces': false,
      'read-projects': true,
    });
    const both = { 'manage-projects': true, 'manage-workspaces': false };
    const refused = await create({ 'organization-access': both });
    expect(pointerOf(refused)).toEqual([422, '/data/attributes/organization-access/manage-workspaces']);
  });
});

describe('team membership', () => {
  it('can be added by id or name, listed, included and removed', async () => {
    const { id } = await team();
    const one = await members.member('acme');
    const other = await members.newUser('outside');
    const path = `teams/${id}/relationships/users`;
    expect((await api.call('POST', path, users(one.id, 'owner'))).status).toBe(204);
    const { data, included } = (await api.get(`teams/${id}?include=users,organization-memberships`)).body;
    expect(data.attributes['users-count']).toBe(2);
    expect(ids(data.relationships.users.data).sort()).toEqual([one.id, api.userId].sort());
    expect(included.map(({ type }: { type: string }) => type).sort()).toEqual([
      'organization-memberships',
      'organization-memberships',
      'users',
      'users',
    ]);
    const [membership] = data.relationships['organization-memberships'].data;
    const itself = included.find(({ id }: { id: string }) => id === membership.id);
    expect(Object.keys(itself.relationships).sort(), 'without its teams').toEqual([
      'organization',
      'scim-identity',
      'user',
    ]);
    const itsUser = included.find(({ id }: { id: string }) => id === itself.relationships.user.data.id);
    expect(itself.attributes.email).toBe(itsUser.id === api.userId ? 'owner@acme.test' : 'member@b.test');
    const listed = await api.get(`teams/${id}/relationships/organization-memberships?filter[status]=active`);
    expect(ids(listed.body.data)).toContain(membership.id);
    const typesWith = async (include: string) => {
      const { included } = (await api.get(`teams/${id}?include=${include}`)).body;
      return [...new Set(included.map(({ type }: { type: string }) => type))];
    };
    expect(await typesWith('users')).toEqual(['users']);
    expect(await typesWith('organization_memberships')).toEqual(['organization-memberships']);
    const refused = await api.call('POST', path, users(one.id, other.id));
    expect(pointerOf(refused)).toEqual([422, '/data/1/id']);
    expect(refused.body.errors[0].detail).toContain('not found in acme');
    expect((await api.call('POST', path, users())).status).toBe(204);
    expect((await api.call('DELETE', path, users(one.id, one.id))).status).toBe(204);
    const current = async () => (await api.get(`teams/${id}`)).body.data.relationships;
    const { users: left, 'organization-memberships': memberships } = await current();
    expect(ids(left.data)).toEqual([api.userId]);
    const byMembership = `teams/${id}/relationships/organization-memberships`;
    expect((await api.call('DELETE', byMembership, { body: memberships })).status).toBe(204);
    expect((await current()).users.data).toEqual([]);
    expect((await api.call('POST', byMembership, { body: memberships })).status).toBe(204);
    expect((await current()).users).toEqual(left);
    const unknown = { data: [{ type: 'organization-memberships', id: 'ou-none' }] };
    expect((await api.call('POST', byMembership, { body: unknown })).status).toBe(422);
  });

  it('accepts its own name in a change, and rejects the reserved name "owners"', async () => {
    const name = uniqueName('kept');
    const { id } = await team({ name });
    const { headers, status } = await api.patch(`teams/${id}`, { name, visibility: 'organization' });
    expect(status).toBe(200);
    expect((await api.patch(`teams/${id}`, {})).headers.etag, 'an empty change is no edit').toBe(headers.etag);
    const refused = await api.patch(`teams/${id}`, { name: 'owners' });
    expect(pointerOf(refused)).toEqual([422, '/data/attributes/name']);
    expect((await api.patch(`teams/${id}`, { name: uniqueName('new') })).status).toBe(200);
  });

  it('of more than a thousand users is not included', async () => {
    const { keys, update } = store;
    const { id } = await team();
    const many = Array.from({ length: 1001 }, (_, n) => `user-${String(n).padStart(16, '0')}`);
    await update(keys.teamUsers(id), { add: { userIds: new Set(many) } });
    const refused = await api.get(`teams/${id}?include=users`);
    expect([refused.status, refused.body.errors[0].source.parameter]).toEqual([400, 'include']);
    await update(keys.teamUsers(id), { delete: { userIds: new Set(many.slice(0, 1)) } });
    expect((await api.get(`teams/${id}?include=users`)).status).toBe(200);
    const full = Array.from({ length: 4000 }, (_, n) => `user-full${n}`);
    await update(keys.teamUsers(id), { add: { userIds: new Set(full) } });
    const beyond = await api.call('POST', `teams/${id}/relationships/users`, users('owner'));
    expect(detailOf(beyond)).toEqual([422, expect.stringContaining('at most 5000 users')]);
  });

  it('without a membership in the organization is not kept', async () => {
    const { enterTeam, usersOfTeam } = await import('#resources/teams/members.ts');
    const { id } = await team();
    const one = await members.member('acme');
    const outside = await members.newUser('outsider');
    expect(await enterTeam({ id, organization: 'acme' }, [outside.id, one.id])).toBe(true);
    expect(await usersOfTeam.get(id)).toEqual([one.id]);
  });

  it('is listed by status, in the requested order', async () => {
    const { id } = await team();
    const invite = { email: 'guest@acme.test' };
    const teams = { teams: { data: [{ type: 'teams', id }] } };
    expect((await api.post('organizations/acme/organization-memberships', invite, teams)).status).toBe(201);
    await api.call('POST', `teams/${id}/relationships/users`, users('owner'));
    const statuses = async (query: string) => {
      const { body } = await api.get(`teams/${id}/relationships/organization-memberships?${query}`);
      return body.data.map(({ attributes }: { attributes: { status: string } }) => attributes.status);
    };
    expect(await statuses('sort=status')).toEqual(['active', 'invited']);
    expect(await statuses('sort=-status')).toEqual(['invited', 'active']);
    expect(await statuses('filter[status]=invited')).toEqual(['invited']);
  });

  it('is visible with the team; email addresses and statuses only with the membership', async () => {
    const { id } = await team({ visibility: 'organization' });
    const one = await members.member('acme');
    const other = await members.member('acme');
    await api.call('POST', `teams/${id}/relationships/users`, users(one.id, other.id));
    const visibleCounts = async (token?: string) => {
      const { data, included } = (await api.get(`teams/${id}?include=users,organization_memberships`, { token })).body;
      const listed = (await api.get(`teams/${id}/relationships/organization-memberships`, { token })).body.data;
      type Document = { id: string; type: string; attributes: { email: string | null } };
      const of = (type: string) => included.filter((document: Document) => document.type === type).length;
      const addresses = listed.filter(({ attributes }: Document) => attributes.email !== null).length;
      return [
        data.relationships.users.data.length,
        of('users'),
        of('organization-memberships'),
        listed.length,
        addresses,
      ];
    };
    expect(await visibleCounts()).toEqual([2, 2, 2, 2, 2]);
    expect(await visibleCounts(one.token)).toEqual([2, 2, 1, 2, 1]);
    expect(await visibleCounts((await members.member('acme')).token)).toEqual([2, 2, 0, 2, 0]);
  });

  it('takes effect and ends with the next request', async () => {
    const { id } = await team({ 'organization-access': { 'read-workspaces': true } });
    const workspace = await api.workspace();
    const { id: userId, token } = await members.member('acme');
    const status = async () => (await api.get(`workspaces/${workspace.id}`, { token })).status;
    expect(await status()).toBe(404);
    await api.call('POST', `teams/${id}/relationships/users`, users(userId));
    expect(await status()).toBe(200);
    await api.call('DELETE', `teams/${id}/relationships/users`, users(userId));
    expect(await status()).toBe(404);
    await api.call('POST', `teams/${id}/relationships/users`, users(userId));
    await api.call('DELETE', `teams/${id}`);
    expect(await status()).toBe(404);
  });
});

describe('the owners team', () => {
  const owners = async () => {
    const { data } = (await api.get('organizations/acme/teams?filter[names]=owners')).body;
    expect(data).toHaveLength(1);
    return data[0];
  };

  it('exists, has full access, and cannot be changed', async () => {
    const { id, attributes, relationships } = await owners();
    expect(attributes).toMatchObject({
      name: 'owners',
      permissions: { 'can-destroy': false, 'can-update-name': false },
    });
    expect(Object.values(attributes['organization-access']).every(Boolean)).toBe(true);
    expect(ids(relationships.users.data)).toEqual([api.userId]);
    expect((await api.call('DELETE', `teams/${id}`)).status).toBe(409);
    for (const fixed of [{ name: 'others' }, { 'organization-access': { 'manage-policies': true } }]) {
      expect((await api.patch(`teams/${id}`, fixed)).status).toBe(422);
    }
    expect((await api.patch(`teams/${id}`, { name: 'owners', 'sso-team-id': 'admins' })).status).toBe(200);
  });

  it('makes its members owners, and keeps the last one', async () => {
    const { id } = await owners();
    const { id: userId, token } = await members.member('acme');
    const path = `teams/${id}/relationships/users`;
    const refused = await api.call('DELETE', path, users(api.userId));
    expect(detailOf(refused)).toEqual([409, expect.stringContaining('needs at least one owner')]);
    const owner = { teams: { data: [{ type: 'teams', id }] } };
    const invited = await api.post('organizations/acme/organization-memberships', { email: 'late@acme.test' }, owner);
    expect(invited.status).toBe(201);
    expect((await api.call('DELETE', path, users(api.userId))).status, 'an invited owner may never accept').toBe(409);
    await api.call('DELETE', `organization-memberships/${invited.body.data.id}`);
    await api.call('POST', path, users(userId));
    expect((await api.call('DELETE', path, users(userId, api.userId))).status, 'all at once').toBe(409);
    expect(ids((await owners()).relationships.users.data).sort(), 'none was removed').toEqual(
      [userId, api.userId].sort(),
    );
    expect((await api.get('organizations/acme', { token })).body.data.attributes.permissions['can-destroy']).toBe(true);
    expect((await api.call('DELETE', path, { ...users(userId), token })).status).toBe(204);
    const { removeFromTeam } = await import('#resources/teams/members.ts');
    expect(await removeFromTeam({ id, organization: 'acme', owners: true }, api.userId), 'by two at once').toBe(false);
    expect((await api.get('organizations/acme')).body.data.attributes.permissions['can-destroy']).toBe(true);
    expect((await api.get('organizations/acme', { token })).body.data.attributes.permissions['can-destroy']).toBe(
      false,
    );
  });

  it('is created for organizations that predate teams', async () => {
    const { keys, remove, update } = store;
    const { id } = await owners();
    await remove(keys.team(id));
    await remove(keys.teamUsers(id));
    await remove(keys.teamName('acme', 'owners'));
    await update(keys.membership(api.userId, 'acme'), { remove: ['teams'] });
    expect((await create({ name: 'owners' })).status).toBe(422);
    const again = await owners();
    expect([again.id, ids(again.relationships.users.data)]).toEqual([id, [api.userId]]);
    expect(await store.get(keys.teamName('acme', 'owners'))).toMatchObject({ holder: id });
  });
});

describe('team managers', () => {
  it('with manage-membership change members only, and never owners', async () => {
    const { id } = await team({ visibility: 'organization' });
    const secret = await team();
    const { id: userId, token } = await members.withFlags('acme', 'manage-membership');
    const add = (to: string) => api.call('POST', `teams/${to}/relationships/users`, { ...users(userId), token });
    expect((await add(id)).status).toBe(204);
    expect((await add(secret.id)).status).toBe(404);
    const owners = (await api.get('organizations/acme/teams?filter[names]=owners', { token })).body.data[0];
    expect(owners.attributes.permissions).toMatchObject({ 'can-update-membership': false });
    expect((await add(owners.id)).status).toBe(403);
    expect((await create({}, token)).status).toBe(403);
    const shown = (await api.get(`teams/${id}`, { token })).body.data.attributes.permissions;
    expect(shown).toMatchObject({ 'can-update-membership': true, 'can-destroy': false, 'can-update-name': false });
    expect((await api.call('DELETE', `teams/${id}`, { token })).status).toBe(403);
  });

  it('with manage-teams cannot change permissions or see secret teams', async () => {
    const { token } = await members.withFlags('acme', 'manage-teams', 'manage-membership');
    const response = await create({}, token);
    expect(response.body.data.attributes.visibility).toBe('organization');
    expect((await create({ visibility: 'secret' }, token)).status).toBe(403);
    expect((await create({ 'organization-access': { 'manage-workspaces': true } }, token)).status).toBe(403);
    expect((await create({ 'organization-access': { 'manage-workspaces': false } }, token)).status).toBe(200);
    const { id } = response.body.data;
    const renamed = { data: { attributes: { name: uniqueName('renamed') } } };
    expect((await api.call('PATCH', `teams/${id}`, { token, body: renamed })).status).toBe(200);
    const access = { data: { attributes: { 'organization-access': { 'manage-policies': true } } } };
    expect((await api.call('PATCH', `teams/${id}`, { token, body: access })).status).toBe(403);
    const hide = { data: { attributes: { visibility: 'secret' } } };
    expect((await api.call('PATCH', `teams/${id}`, { token, body: hide })).status).toBe(403);
    expect((await api.call('DELETE', `teams/${id}`, { token })).status).toBe(204);
  });

  it('with manage-organization-access change all teams but the owners', async () => {
    const { id } = await team();
    const { token } = await members.withFlags('acme', 'manage-organization-access', 'access-secret-teams');
    const body = { data: { attributes: { 'organization-access': { 'manage-policies': true } } } };
    expect((await api.call('PATCH', `teams/${id}`, { token, body })).status).toBe(200);
    const owners = (await api.get('organizations/acme/teams?filter[names]=owners', { token })).body.data[0];
    expect((await api.call('PATCH', `teams/${owners.id}`, { token, body })).status).toBe(403);
  });

  it('and members are the only users who see secret teams', async () => {
    const { id } = await team();
    const one = await members.member('acme');
    const list = async () => ids((await api.get('organizations/acme/teams?page[size]=100', one)).body.data);
    expect(await list()).not.toContain(id);
    expect((await api.get(`teams/${id}`, one)).status).toBe(404);
    await api.call('POST', `teams/${id}/relationships/users`, users(one.id));
    expect(await list()).toContain(id);
    expect((await api.get(`teams/${id}`, one)).status).toBe(200);
  });
});

it('teams are deleted with their organization', async () => {
  const name = uniqueName('gone');
  await api.post('organizations', { name, email: 'a@b.test' });
  const [owners] = (await api.get(`organizations/${name}/teams`)).body.data;
  const team = (await api.post(`organizations/${name}/teams`, { name: 'some' })).body.data;
  expect((await api.call('DELETE', `organizations/${name}`)).status).toBe(204);
  for (const { id } of [owners, team]) expect((await api.get(`teams/${id}`)).status).toBe(404);
});
