import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, Scene, uniqueName } from './support.ts';

/**
 * Membership of an organization and its teams: by invitation, by the organization's token, by groups of the issuer, and
 * by a directory.
 */

const scene = await Scene.open();
const path = `organizations/${scene.organization}`;

// The strictest settings of an organization: sessions of its members last a minute.
const strange = await scene.organizationOf(scene.owner, { 'session-timeout': 1 });
const victim: Person = await scene.signIn();
const { id: membershipId } = await scene.invite(victim.account.email ?? '', [], scene.owner, strange);

const idsIn = async (path: string, token = victim.token): Promise<string[]> =>
  (await scene.must(token, 'GET', path)).map(({ id }: { id: string }) => id);

describe('a pending invitation', () => {
  it('shortens no session', async () => {
    const { body } = await scene.exchange(victim.account);
    expect(body.expires_in).toBeGreaterThan(3600);
  });

  it('grants no membership', async () => {
    expect(await idsIn('organizations')).not.toContain(strange);
    expect((await scene.get(victim.token, `organizations/${strange}`)).status).toBe(404);
  });

  it("hides the invited user's account changes and username", async () => {
    const token = await scene.must(victim.token, 'POST', `users/${victim.id}/authentication-tokens`, {
      data: { attributes: { description: 'private' } },
    });
    const trail = await scene.get(
      scene.owner,
      `organization/audit-trail?filter[organization][name]=${strange}&sort=-timestamp`,
    );
    expect(JSON.stringify(trail.body)).not.toContain(token.id);
    expect(
      trail.body.data.filter((one: { auth: { accessor_id: string } }) => one.auth.accessor_id === victim.id),
    ).toEqual([]);
    const listed = await scene.get(scene.owner, `organizations/${strange}/organization-memberships?include=user`);
    const invited = listed.body.data.find(({ id }: { id: string }) => id === membershipId);
    expect(invited.attributes).toMatchObject({ status: 'invited', email: victim.account.email });
    const user = listed.body.included.find(({ id }: { id: string }) => id === victim.id);
    expect(user?.attributes.username ?? null).toBe(null);
  });

  it('cannot be accepted by its sender', async () => {
    const answer = await scene.call(scene.owner, 'POST', `organization-memberships/${membershipId}/actions/accept`);
    expect(answer.status).toBe(403);
    const [listed] = (await scene.must(victim.token, 'GET', 'organization-memberships?filter[status]=invited')).filter(
      ({ id }: { id: string }) => id === membershipId,
    );
    expect(listed.attributes.status).toBe('invited');
  });
});

it('an invited user becomes a member once the invitation is accepted', async () => {
  await scene.must(victim.token, 'POST', `organization-memberships/${membershipId}/actions/accept`);
  expect(await idsIn('organizations')).toContain(strange);
  expect((await scene.exchange(victim.account)).body.expires_in).toBeLessThanOrEqual(60);
});

it('an invited user can decline the invitation', async () => {
  const other = await scene.signIn();
  const { id } = await scene.invite(other.account.email ?? '', [], scene.owner, strange);
  await scene.must(other.token, 'DELETE', `organization-memberships/${id}`);
  expect(await idsIn('organization-memberships?filter[status]=invited', other.token)).toEqual([]);
  const answer = await scene.call(other.token, 'POST', `organization-memberships/${id}/actions/accept`);
  expect(answer.status).toBe(404);
});

/** CI systems hold it; it never becomes an owner. */
const token = (await scene.must(scene.owner, 'POST', `${path}/authentication-token`)).attributes.token;
const owners = (await scene.must(token, 'GET', `${path}/teams?filter[names]=owners`))[0].id;

it('the organization token cannot create a token of the owners team', async () => {
  const legacy = await scene.call(token, 'POST', `teams/${owners}/authentication-token`);
  const described = await scene.post(token, `teams/${owners}/authentication-tokens`, { description: uniqueName('ci') });
  expect([legacy.status, described.status]).toEqual([403, 403]);
});

it('the organization token cannot add members to the owners team', async () => {
  const mallory = await scene.signIn();
  const { id } = await scene.invite(mallory.account.email ?? '', [], token);
  await scene.must(mallory.token, 'POST', `organization-memberships/${id}/actions/accept`);
  const enter = (kind: string, member: object) =>
    scene.call(token, 'POST', `teams/${owners}/relationships/${kind}`, { data: [member] });
  expect((await enter('users', { type: 'users', id: mallory.id })).status).toBe(403);
  expect((await enter('organization-memberships', { type: 'organization-memberships', id })).status).toBe(403);
  const invited = await scene.post(
    token,
    `${path}/organization-memberships`,
    { email: `${uniqueName('mallory')}@example.test` },
    { teams: { data: [{ type: 'teams', id: owners }] } },
  );
  expect(invited.status).toBe(403);
});

it('the organization token cannot map a group to the owners team', async () => {
  const group = uniqueName('group');
  const changed = await scene.call(token, 'PATCH', `teams/${owners}`, {
    data: { type: 'teams', attributes: { 'sso-team-id': group } },
  });
  expect(changed.status).toBe(403);
  const { token: mallory } = await scene.signIn({ groups: [group] });
  expect((await scene.get(mallory, `organizations/${scene.organization}`)).status).toBe(404);
});

it('team managers cannot revoke tokens of the owners team and of secret teams', async () => {
  const manager = await scene.team(scene.owner, { 'organization-access': { 'manage-teams': true } });
  const email = `${uniqueName('manager')}@example.test`;
  await scene.invite(email, [manager.id]);
  const mallory = await scene.signIn({ email });
  const secret = await scene.team(scene.owner, { visibility: 'secret' });
  const visible = await scene.team(scene.owner, { visibility: 'organization' });
  const make = (teamId: string) =>
    scene.must(scene.owner, 'POST', `teams/${teamId}/authentication-tokens`, {
      data: { attributes: { description: uniqueName('ci') } },
    });
  const untouched = [await make(owners), await make(secret.id)];
  const ended = await make(visible.id);
  const bulkPath = `${path}/team-tokens`;
  const bulk = (ids: string[]) =>
    scene.call(mallory.token, 'DELETE', bulkPath, { data: ids.map((id) => ({ type: 'authentication-tokens', id })) });
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

it('unknown users cannot create organizations', async () => {
  const stranger = await scene.signIn();
  const attributes = { name: uniqueName('trap'), email: 'm@example.test' };
  const { status, body } = await scene.post(stranger.token, 'organizations', attributes);
  expect(status).toBe(403);
  expect(body.errors[0].detail).toContain('organizationCreators');
  const { attributes: account } = await scene.must(stranger.token, 'GET', 'account/details');
  expect(account.permissions).toMatchObject({ 'can-create-organizations': false, 'can-create-organization': false });
});

it('groups do not map to teams of an organization that the operator did not list', async () => {
  const group = uniqueName('engineering');
  const trap = await scene.organizationOf(scene.owner);
  const refused = await scene.post(scene.owner, `organizations/${trap}/teams`, {
    name: uniqueName('team'),
    'sso-team-id': group,
  });
  expect(refused.status).toBe(422);
  expect(refused.body.errors[0].source.pointer).toBe('/data/attributes/sso-team-id');
  const team = await scene.team(scene.owner, {}, trap);
  const changed = await scene.call(scene.owner, 'PATCH', `teams/${team.id}`, {
    data: { type: 'teams', attributes: { 'sso-team-id': group } },
  });
  expect(changed.status).toBe(422);
  const victim = await scene.signIn({ groups: [group] });
  const members = await scene.must(scene.owner, 'GET', `organizations/${trap}/organization-memberships`);
  expect(JSON.stringify(members)).not.toContain(victim.account.email);
});

it('groups map to teams of the bootstrap organization', async () => {
  const group = uniqueName('operators');
  const team = await scene.team(scene.owner, { 'sso-team-id': group });
  await scene.signIn({ groups: [group] });
  const { attributes } = await scene.must(scene.owner, 'GET', `teams/${team.id}`);
  expect(attributes['users-count']).toBe(1);
});

/** A directory: a leaver loses access in the same request, and its token opens nothing else. */
interface Directory {
  url: string;
  token: string;
}

const directoryOf = async (owner: string, organization: string): Promise<Directory> => {
  const { id, attributes } = await scene.must(owner, 'POST', `organizations/${organization}/scim-configuration`);
  const body = { data: { attributes: { description: 'directory' } } };
  const made = await scene.must(owner, 'POST', `scim-configurations/${id}/authentication-tokens`, body);
  return { url: attributes['base-url'], token: made.attributes.token };
};

const call = async ({ url, token }: Directory, method: string, path: string, body?: unknown) => {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json; charset=utf-8' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get('content-type'), body: text ? JSON.parse(text) : undefined };
};

const disable = { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] };

describe('a directory', () => {
  let own: Directory;
  beforeAll(async () => {
    // Only now: from then on, groups of the issuer no longer decide.
    own = await directoryOf(scene.owner, scene.organization);
  });

  it('a provisioned user signs in, and loses session and tokens with the deactivation', async () => {
    const email = `${uniqueName('leaver')}@example.test`;
    const { body: user } = await call(own, 'POST', '/Users', { userName: email });
    const found = await call(own, 'GET', `/Users?filter=${encodeURIComponent(`userName eq "${email.toUpperCase()}"`)}`);
    expect([found.status, found.type, found.body.totalResults]).toEqual([200, 'application/scim+json', 1]);
    const leaver = await scene.signIn({ email });
    expect((await scene.get(leaver.token, path)).status).toBe(200);
    const attributes = { description: 'laptop' };
    const { token } = (
      await scene.must(leaver.token, 'POST', `users/${leaver.id}/authentication-tokens`, { data: { attributes } })
    ).attributes;
    expect((await scene.get(token, path)).status).toBe(200);
    expect((await call(own, 'PATCH', `/Users/${user.id}`, disable)).body.active).toBe(false);
    for (const ended of [leaver.token, token]) {
      expect((await scene.get(ended, path)).status).toBe(401);
      expect((await scene.get(ended, 'account/details')).status).toBe(401);
    }
    // The issuer still lets the user sign in, to nothing.
    const again = await scene.signIn(leaver.account);
    expect((await scene.get(again.token, path)).status).toBe(404);
  });

  it('a directory of another organization reaches neither the users nor the API', async () => {
    const email = `${uniqueName('victim')}@example.test`;
    const { body: user } = await call(own, 'POST', '/Users', { userName: email });
    const victim = await scene.signIn({ email });
    const elsewhere = await scene.organizationOf(scene.owner);
    const foreign = await directoryOf(scene.owner, elsewhere);
    expect((await call({ ...own, token: foreign.token }, 'PATCH', `/Users/${user.id}`, disable)).status).toBe(401);
    expect((await call(foreign, 'PATCH', `/Users/${user.id}`, disable)).status).toBe(404);
    const { body: claimed } = await call(foreign, 'POST', '/Users', { userName: email });
    await call(foreign, 'DELETE', `/Users/${claimed.id}`);
    expect((await scene.get(victim.token, `organizations/${scene.organization}`)).status).toBe(200);
    expect((await scene.get(victim.token, `organizations/${elsewhere}`)).status).toBe(404);
    for (const path of ['account/details', `organizations/${scene.organization}`, 'organizations'])
      expect((await scene.get(own.token, path)).status).toBe(401);
  });
});
