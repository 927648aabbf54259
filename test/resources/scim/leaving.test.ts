import { describe, expect, it } from 'vitest';
import { actingAs, detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { directoryOf, sessionOf, signInAs } from './support.ts';

/** What ends when a directory deactivates a user, and what the organization learns about it. */

const api = await startApi();
const directory = await directoryOf(api, 'acme');
const { createToken } = await import('#resources/users/tokens.ts');

/** A provisioned user who signed in, in a group's team, with a session and a token. */
const employee = async () => {
  const email = `${uniqueName('employee')}@acme.test`;
  const user = await directory.user(email);
  const group = await directory.group(uniqueName('group'), { members: [{ value: user.id }] });
  const userId = await signInAs(email);
  const { secret } = await createToken(userId, 'laptop');
  return {
    id: user.id as string,
    email,
    userId,
    group: group.id as string,
    token: secret,
    session: await sessionOf(userId),
  };
};

const statusOf = async (token: string) => (await api.get('organizations/acme', { token })).status;

const eventsOf = async (action: string) => {
  const { data } = (await api.get('organization/audit-trail?since=2020-01-01T00:00:00.000Z')).body;
  return data.filter((event: { resource: { action: string } }) => event.resource.action === action);
};

it('a provisioned user is invited, and becomes a member of the group by the first sign-in', async () => {
  const email = `${uniqueName('new')}@acme.test`;
  const user = await directory.user(email);
  const group = await directory.group(uniqueName('group'), { members: [{ value: user.id }] });
  const memberships = async () =>
    (await api.get(`organizations/acme/organization-memberships?filter[email]=${email}&include=scim-identity`)).body;
  const { data, included } = await memberships();
  expect(data[0].attributes.status).toBe('invited');
  expect(data[0].relationships['scim-identity'].data).toEqual({ type: 'scim-identities', id: user.id });
  expect(included).toEqual([{ id: user.id, type: 'scim-identities', attributes: { status: 'provisioned' } }]);
  const userId = await signInAs(email);
  expect((await memberships()).data[0].attributes.status).toBe('active');
  const token = await sessionOf(userId);
  const { attributes } = (await api.get(`teams/${group.id}`, { token })).body.data;
  expect(attributes).toMatchObject({ 'scim-linked': true, 'scim-group-name': group.displayName });
});

it('another address of a user who never signed in invites its account in place of the former one', async () => {
  const [email, other] = [`${uniqueName('former')}@acme.test`, `${uniqueName('other')}@acme.test`];
  const user = await directory.user(email);
  const operations = [{ op: 'replace', path: 'emails', value: [{ value: other, primary: true }] }];
  expect((await directory.call('PATCH', `/Users/${user.id}`, { operations })).status).toBe(200);
  const statuses = async (address: string) => {
    const { data } = (await api.get(`organizations/acme/organization-memberships?filter[email]=${address}`)).body;
    return data.map(({ attributes }: { attributes: { status: string } }) => attributes.status);
  };
  expect([await statuses(email), await statuses(other)]).toEqual([[], ['invited']]);
});

describe.each([
  ['active: false', (id: string) => directory.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })],
  ['DELETE', (id: string) => directory.call('DELETE', `/Users/${id}`)],
] as const)('%s', (_, end) => {
  it('ends membership, teams, sessions and tokens at once', async () => {
    const user = await employee();
    expect([await statusOf(user.token), await statusOf(user.session)]).toEqual([200, 200]);
    expect((await end(user.id)).status).toBeLessThan(300);
    expect([await statusOf(user.token), await statusOf(user.session)]).toEqual([401, 401]);
    expect((await api.get('account/details', { token: user.token })).status).toBe(401);
    expect((await api.get(`teams/${user.group}`)).body.data.attributes['users-count']).toBe(0);
    const { data } = (await api.get(`organizations/acme/organization-memberships?filter[email]=${user.email}`)).body;
    expect(data).toEqual([]);
  });
});

it('the audit trail says what ended, and what the user left behind', async () => {
  const user = await employee();
  const owner = actingAs(api, user.session);
  const { id: workspace } = await api.workspace({ 'auto-apply': false });
  await api.configuration(workspace);
  const { id: run } = (await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id: workspace } } })).body
    .data;
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  await update(keys.run(run), { set: { createdBy: user.userId } });
  const team = (await api.post('organizations/acme/teams', { name: uniqueName('ci') })).body.data.id;
  const made = await api.post(`teams/${team}/authentication-tokens`, { description: 'ci' });
  const { findToken } = await import('#resources/users/tokens.ts');
  const token = await findToken(made.body.data.attributes.token);
  const { hashSecret } = await import('#platform/store/id.ts');
  await update(keys.token(hashSecret(made.body.data.attributes.token)), { set: { createdBy: user.userId } });
  expect((await owner.get('organizations/acme')).status).toBe(200);

  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
  const [event] = (await eventsOf('end_by_scim')).filter(
    ({ resource }: { resource: { meta: { user_id: string } } }) => resource.meta.user_id === user.userId,
  );
  expect(event.resource).toMatchObject({
    type: 'organization_membership',
    meta: {
      token_kind: 'scim',
      tokens_ended: '1',
      sessions_ended: '1',
      unfinished_runs: run,
      tokens_seen: token?.id,
      outcome: 'allowed',
    },
  });
  expect(event.auth.description).toBe('scim-acme');
  await directory.user('owner@acme.test');
  const joined = (await eventsOf('join_by_scim')).map(
    ({ resource }: { resource: { meta: { user_id: string } } }) => resource.meta.user_id,
  );
  expect([joined.includes(user.userId), joined.includes(api.userId)], 'the owner was a member').toEqual([true, false]);
  const updates = await eventsOf('update');
  expect(updates.map(({ resource }: { resource: { id: string } }) => resource.id)).toContain(user.id);
});

it('a user who is active again is in their teams, but older tokens stay rejected', async () => {
  const user = await employee();
  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
  const { createToken: create } = await import('#resources/users/tokens.ts');
  // As if the deletion of the tokens had been interrupted.
  const { secret: survivor } = await create(user.userId, 'survivor');
  expect(await statusOf(survivor)).toBe(404);
  const { body } = await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: true });
  expect(body.active).toBe(true);
  const refused = await api.get('organizations/acme', { token: survivor });
  expect(detailOf(refused)).toEqual([401, expect.stringContaining('older than')]);
  expect(await statusOf(user.token)).toBe(401);
  expect(await statusOf(await sessionOf(user.userId))).toBe(200);
  expect((await api.get(`teams/${user.group}`)).body.data.attributes['users-count']).toBe(1);
});

it('a user who left their group while inactive does not return to its team', async () => {
  const user = await employee();
  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
  await directory.patch(`/Groups/${user.group}`, { op: 'replace', path: 'members', value: [] });
  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: true });
  expect((await api.get(`teams/${user.group}`)).body.data.attributes['users-count']).toBe(0);
});

it('a user who is active again does not return to a team that left the directory', async () => {
  const user = await employee();
  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
  const { keys } = await import('#platform/store/keys.ts');
  const { update } = await import('#platform/store/table.ts');
  await update(keys.team(user.group), { remove: ['scim'] });
  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: true });
  expect((await api.get(`teams/${user.group}`)).body.data.attributes['users-count']).toBe(0);
});

it('the last owner stays, with a reason', async () => {
  const name = uniqueName('owned');
  await api.post('organizations', { name, email: 'o@b.test' });
  const other = await directoryOf(api, name);
  const owner = await other.user('owner@acme.test');
  const refused = await other.patch(`/Users/${owner.id}`, { op: 'replace', path: 'active', value: false });
  expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('at least one owner')]);
  expect((await other.call('DELETE', `/Users/${owner.id}`)).status).toBe(409);
  expect((await api.get(`organizations/${name}`)).status).toBe(200);
  expect((await other.call('GET', `/Users/${owner.id}`)).body.active).toBe(true);
});

it('a rejected change does not keep a user who left', async () => {
  const user = await employee();
  await directory.user('taken@acme.test');
  const refused = await directory.patch(
    `/Users/${user.id}`,
    { op: 'replace', path: 'userName', value: 'taken@acme.test' },
    { op: 'replace', path: 'active', value: false },
  );
  expect(refused.status).toBe(409);
  expect(await statusOf(user.session)).toBe(401);
});
