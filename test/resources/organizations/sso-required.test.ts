import { describe, expect, it } from 'vitest';
import { actingAs, detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';
import { sessionOf, signInAs } from '../scim/support.ts';

/** Organizations whose members act by single sign-on only. */

const api = await startApi();
const members = await memberHelpers();

/** An organization that requires single sign-on, with its break-glass owner's token. */
const make = async () => {
  const owner = await members.newUser(uniqueName('owner'));
  const as = actingAs(api, owner.token);
  const name = uniqueName('sso');
  await as.post('organizations', { name, email: 'o@b.test' });
  const member = await members.newUser(uniqueName('member'));
  const { addMember } = await import('#resources/users/memberships.ts');
  await addMember(name, member.id);
  const required = await as.patch(`organizations/${name}`, { 'sso-required': true });
  return { name, owner, as, member, required };
};

const statusIn = async (organization: string, token: string) =>
  (await api.get(`organizations/${organization}`, { token })).status;

const ownersOf = async (as: typeof api, name: string): Promise<string> =>
  (await as.get(`organizations/${name}/teams?filter[names]=owners`)).body.data[0].id;

/** Another owner, with a token. */
const anotherOwner = async (name: string, as: typeof api) => {
  const user = await members.newUser(uniqueName('owner'));
  const { addMember } = await import('#resources/users/memberships.ts');
  await addMember(name, user.id);
  const body = { data: [{ type: 'users', id: user.id }] };
  const team = await ownersOf(as, name);
  const { status } = await as.call('POST', `teams/${team}/relationships/users`, { body });
  if (status !== 204) throw new Error(`${status}`);
  return user;
};

describe('an organization that requires single sign-on', () => {
  it('rejects tokens and sessions of users without an identity, and accepts those of others', async () => {
    const { name, as, member, required } = await make();
    expect(required.body.data.attributes['sso-required']).toBe(true);
    const refused = await api.get(`organizations/${name}`, { token: member.token });
    expect(detailOf(refused)).toEqual([401, expect.stringContaining('single sign-on')]);
    const { beginSession } = await import('#resources/sign-in/session.ts');
    expect(await statusIn(name, (await beginSession(member.id)).secret)).toBe(401);

    const { connect } = await import('#resources/sign-in/people.ts');
    const person = { issuer: 'https://issuer.test', subject: uniqueName('subject'), emailVerified: false };
    expect(await connect(person, member.id)).toBe(true);
    expect(await statusIn(name, member.token)).toBe(200);
    expect(await statusIn(name, await sessionOf(member.id))).toBe(200);
    // A session that was not started at the issuer, by a one-time secret.
    expect(await statusIn(name, (await beginSession(member.id)).secret)).toBe(401);

    const linked = (await api.get('account/identities', { token: member.token })).body.data;
    expect((await api.call('DELETE', `account/identities/${linked[0].id}`, { token: member.token })).status).toBe(204);
    expect(await statusIn(name, member.token)).toBe(401);
    const team = (await as.post(`organizations/${name}/teams`, { name: 'ci' })).body.data.id;
    const { token } = (await as.post(`teams/${team}/authentication-token`, {})).body.data.attributes;
    expect(await statusIn(name, token)).toBe(200);
    await as.patch(`organizations/${name}`, { 'sso-required': false });
    expect(await statusIn(name, member.token)).toBe(200);
  });

  it('applies to later members, until they sign in', async () => {
    const { name, as } = await make();
    const email = `${uniqueName('later')}@b.test`;
    await as.post(`organizations/${name}/organization-memberships`, { email });
    expect(await statusIn(name, await sessionOf(await signInAs(email)))).toBe(200);
    const other = await members.newUser(uniqueName('later'));
    const { addMember } = await import('#resources/users/memberships.ts');
    await addMember(name, other.id);
    expect(await statusIn(name, other.token)).toBe(401);
  });

  it('lists the reason instead of no organizations', async () => {
    const { member } = await make();
    const { status, body } = await api.get('organizations', { token: member.token });
    expect([status, body.errors[0].detail]).toEqual([401, expect.stringContaining('single sign-on')]);
  });
});

describe('the break-glass owner', () => {
  it('is the owner who requires single sign-on, and every action is marked in the audit trail', async () => {
    const { name, as, owner, required } = await make();
    expect(required.body.data.relationships['break-glass-owner'].data).toEqual({ type: 'users', id: owner.id });
    expect((await as.post(`organizations/${name}/teams`, { name: 'made' })).status).toBe(200);
    const { data } = (await as.get('organization/audit-trail?since=2020-01-01T00:00:00.000Z')).body;
    const [event] = data.filter(({ resource }: { resource: { type: string } }) => resource.type === 'team');
    expect(event.resource).toMatchObject({ action: 'create', meta: { break_glass: 'true' } });
    const { connect } = await import('#resources/sign-in/people.ts');
    await connect({ issuer: 'https://issuer.test', subject: uniqueName('subject'), emailVerified: false }, owner.id);
    const bySso = actingAs(api, await sessionOf(owner.id));
    await bySso.post(`organizations/${name}/teams`, { name: 'by-sso' });
    const later = (await as.get('organization/audit-trail?since=2020-01-01T00:00:00.000Z')).body.data;
    const marks = later
      .filter(({ resource }: { resource: { type: string } }) => resource.type === 'team')
      .map(({ resource }: { resource: { meta: { break_glass?: string } } }) => resource.meta.break_glass);
    expect(marks.sort()).toEqual(['true', undefined]);
  });

  it('is exactly one: other owners are rejected, and another one can take its place', async () => {
    const { name, as, owner } = await make();
    await as.patch(`organizations/${name}`, { 'sso-required': false });
    const second = await anotherOwner(name, as);
    await as.patch(`organizations/${name}`, { 'sso-required': true });
    expect([await statusIn(name, owner.token), await statusIn(name, second.token)]).toEqual([200, 401]);
    const named = { 'break-glass-owner': { data: { type: 'users', id: second.id } } };
    expect((await as.patch(`organizations/${name}`, {}, named)).status).toBe(200);
    expect([await statusIn(name, owner.token), await statusIn(name, second.token)]).toEqual([401, 200]);
  });

  it('has to be an owner', async () => {
    const { name, as, member } = await make();
    for (const data of [{ type: 'users', id: member.id }, { type: 'users', id: 'user-unknown' }, null]) {
      const { status, body } = await as.patch(`organizations/${name}`, {}, { 'break-glass-owner': { data } });
      expect([status, body.errors[0].source.pointer]).toEqual([422, '/data/relationships/break-glass-owner']);
    }
  });

  it('cannot leave the owners, by any way, before another one is named', async () => {
    const { name, as, owner } = await make();
    await as.patch(`organizations/${name}`, { 'sso-required': false });
    const second = await anotherOwner(name, as);
    await as.patch(`organizations/${name}`, { 'sso-required': true });
    const team = await ownersOf(as, name);
    const body = { data: [{ type: 'users', id: owner.id }] };
    const left = await as.call('DELETE', `teams/${team}/relationships/users`, { body });
    expect(detailOf(left)).toEqual([409, expect.stringContaining('break-glass')]);
    const { membershipId } = await import('#resources/users/memberships.ts');
    const own = membershipId({ organization: name, userId: owner.id });
    expect((await as.call('DELETE', `organization-memberships/${own}`)).status).toBe(409);
    const other = membershipId({ organization: name, userId: second.id });
    expect((await as.call('DELETE', `organization-memberships/${other}`)).status).toBe(204);
  });
});

it("an operator's token that the organization rejects does not reach the operator's routes", async () => {
  const { connect } = await import('#resources/sign-in/people.ts');
  await connect({ issuer: 'https://issuer.test', subject: uniqueName('subject'), emailVerified: false }, api.userId);
  const operator = actingAs(api, await sessionOf(api.userId));
  const second = await members.newUser(uniqueName('operator'));
  const { addMember } = await import('#resources/users/memberships.ts');
  await addMember('acme', second.id, 'owner');
  expect((await api.get('admin/organizations/acme', { token: second.token })).status).toBe(200);
  expect((await operator.patch('organizations/acme', { 'sso-required': true })).status).toBe(200);
  expect((await api.get('admin/organizations/acme', { token: second.token })).status).toBe(404);
  expect((await operator.patch('organizations/acme', { 'sso-required': false })).status).toBe(200);
});
