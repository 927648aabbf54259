import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { directoryOf, errorSchema, listSchema, patchSchema, userSchema } from './support.ts';

/**
 * The requests and assertions of Okta's SCIM 2.0 specification test (developer.okta.com/standards/SCIM/SCIMFiles/
 * Okta-SCIM-20-SPEC-Test.json), and the requests in Okta's SCIM 2.0 reference.
 */

const api = await startApi();
const directory = await directoryOf(api, 'acme');
const { call } = directory;
await directory.user('first@okta.test', { name: { givenName: 'Fay', familyName: 'First' } });

const random = {
  userName: 'Runscope300Abc@atko.com',
  givenName: 'Runscope300',
  familyName: 'Abc',
  email: 'runscope300abc@atko.com',
};
const realistic = (email: string) => ({
  schemas: [userSchema],
  userName: random.userName,
  name: { givenName: random.givenName, familyName: random.familyName },
  emails: [{ primary: true, value: email, type: 'work' }],
  displayName: `${random.givenName} ${random.familyName}`,
  active: true,
});
const ofFilter = (filter: string) => `/Users?${new URLSearchParams({ filter })}`;

it("passes the steps of Okta's specification test", async () => {
  const users = await call('GET', '/Users?count=1&startIndex=1');
  expect(users.status).toBe(200);
  expect(users.headers['content-type']).toBe('application/scim+json');
  expect(users.body).toMatchObject({
    schemas: [listSchema],
    itemsPerPage: 1,
    startIndex: 1,
    totalResults: 1,
    Resources: [
      {
        id: expect.stringMatching(/./),
        name: { familyName: 'First', givenName: 'Fay' },
        userName: 'first@okta.test',
        active: true,
        emails: [{ value: 'first@okta.test' }],
      },
    ],
  });
  const [{ id }] = users.body.Resources;
  const one = await call('GET', `/Users/${id}`);
  expect([one.status, one.body.id, one.body.name.familyName]).toEqual([200, id, 'First']);

  const none = await call('GET', ofFilter('userName eq "abcdefgh@atko.com"'));
  expect([none.status, none.body.schemas, none.body.totalResults]).toEqual([200, [listSchema], 0]);
  const unknown = await call('GET', '/Users/010101001010101011001010101011');
  expect([unknown.status, unknown.body.schemas]).toEqual([404, [errorSchema]]);
  expect(unknown.body.detail).not.toBe('');

  expect((await call('GET', ofFilter(`userName eq "${random.email}"`))).body.totalResults).toBe(0);
  const created = await call('POST', '/Users', realistic(random.email), {
    headers: { 'content-type': 'application/json', accept: 'application/scim+json; charset=utf-8' },
  });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    schemas: [userSchema],
    active: true,
    userName: random.userName,
    name: { familyName: random.familyName, givenName: random.givenName },
    emails: [{ value: random.email }],
  });
  expect((await call('GET', `/Users/${created.body.id}`)).body).toEqual(created.body);

  const again = await call('POST', '/Users', realistic(random.userName));
  expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness']);
  const capitals = await call('GET', ofFilter(`userName eq "${random.userName.toUpperCase()}"`));
  expect([capitals.status, capitals.body.Resources[0].id]).toEqual([200, created.body.id]);
  const groups = await call('GET', '/Groups');
  expect([groups.status, groups.body.Resources]).toEqual([200, []]);

  const noToken = await call('GET', ofFilter(`userName eq "${random.userName}"`), undefined, { token: 'non-token' });
  expect([noToken.status, noToken.body.status, noToken.body.schemas]).toEqual([401, '401', [errorSchema]]);
  const missing = await call('GET', '/Users/00919288221112222');
  expect([missing.status, missing.body.status, missing.body.schemas]).toEqual([404, '404', [errorSchema]]);
});

describe("Okta's requests", () => {
  it('provision, update by PUT, deactivate by PATCH and reactivate a user', async () => {
    const body = {
      ...realistic('test.user@okta.local'),
      userName: 'test.user@okta.local',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
    };
    const { body: user } = await call('POST', '/Users', body);
    expect(user).not.toHaveProperty('password');
    expect(user.externalId).toBe('00ujl29u0le5T6Aj10h7');
    const replaced = await call('PUT', `/Users/${user.id}`, {
      ...user,
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
    });
    expect([replaced.status, replaced.body.name.middleName, replaced.body.active]).toEqual([200, 'Excited', true]);

    const switched = async (active: boolean) =>
      (
        await call('PATCH', `/Users/${user.id}`, {
          schemas: [patchSchema],
          Operations: [{ op: 'replace', value: { active } }],
        })
      ).body.active;
    expect(await switched(false)).toBe(false);
    expect((await call('GET', `/Users/${user.id}`)).body.active).toBe(false);
    expect(await switched(true)).toBe(true);
    // Integrations of the wizard deactivate by PUT.
    expect((await call('PUT', `/Users/${user.id}`, { ...user, active: false })).body.active).toBe(false);
  });

  it('push a group, rename it, and change its members', async () => {
    const [a, b] = [await directory.user('a@okta.test'), await directory.user('b@okta.test')];
    const { body: group } = await call('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Test SCIMv2',
      members: [],
    });
    const at = `/Groups/${group.id}`;
    const renamed = await directory.patch(at, { op: 'replace', value: { id: group.id, displayName: 'Test SCIMv20' } });
    expect(renamed.status).toBe(204);
    const members = async () => (await call('GET', at)).body.members.map(({ value }: { value: string }) => value);
    await directory.patch(at, { op: 'add', path: 'members', value: [{ value: a.id, display: 'a@okta.test' }] });
    expect(await members()).toEqual([a.id]);
    await directory.patch(
      at,
      { op: 'remove', path: `members[value eq "${a.id}"]` },
      { op: 'add', path: 'members', value: [{ value: b.id, display: 'b@okta.test' }] },
    );
    expect(await members()).toEqual([b.id]);
    const both = [{ value: a.id }, { value: b.id }];
    await directory.patch(at, { op: 'replace', path: 'members', value: both });
    expect((await members()).sort()).toEqual([a.id, b.id].sort());
    expect((await call('GET', at)).body.displayName).toBe('Test SCIMv20');
    const { attributes } = (await api.get(`teams/${group.id}`)).body.data;
    expect(attributes).toMatchObject({ name: 'Test SCIMv2', 'users-count': 2 });
    expect((await call('DELETE', at)).status).toBe(204);
    expect((await call('GET', at)).status).toBe(404);
    expect((await api.get(`teams/${group.id}`)).status).toBe(404);
  });
});
