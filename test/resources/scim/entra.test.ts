import { describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { directoryOf, errorSchema, groupSchema, listSchema, patchSchema, userSchema } from './support.ts';

/**
 * The requests of Microsoft Entra ID (Microsoft Learn: "Develop and plan provisioning for a SCIM endpoint") and of
 * Microsoft's test collection for service providers (AzureAD/SCIMReferenceCode, PostmanCollection.json), with distinct
 * addresses, because an address links a user to an account.
 */

const api = await startApi();
const directory = await directoryOf(api, 'acme');
const { call } = directory;

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const query = (parameters: Record<string, string>) => `?${new URLSearchParams(parameters)}`;

/** With the attributes of Microsoft's collection that are not stored. */
const employee = (userName: string, more: object = {}) => ({
  userName,
  active: true,
  addresses: [{ country: 'Bermuda', formatted: '9132 Jennifer Way', type: 'work', primary: false, region: null }],
  displayName: 'Kimberly Baker',
  emails: [
    { type: 'work', Primary: true, value: `${userName}@example.com` },
    { type: 'other', Primary: false, value: `${userName}@gmail.test` },
  ],
  meta: { created: '2019-09-18T18:15:26.5788954+00:00', resourceType: 'User' },
  name: { formatted: 'Daniel Mcgee', familyName: 'Employee', givenName: 'Darl', honorificPrefix: null },
  phoneNumbers: [{ type: 'fax', value: '312-320-0500' }],
  roles: [],
  title: 'Site engineer',
  externalId: `external ${userName}`,
  schemas: [userSchema, enterprise],
  [enterprise]: { Department: 'bob', Manager: { Value: 'SuzzyQ' } },
  ...more,
});

describe('users', () => {
  it('are created, read, found, updated, disabled and deleted', async () => {
    const created = await call('POST', '/Users', employee('Test_User_1'));
    expect(created.status).toBe(201);
    expect(created.headers.location).toBe(created.body.meta.location);
    const { id } = created.body;
    const at = `/Users/${id}`;
    expect(created.body).toMatchObject({
      externalId: 'external Test_User_1',
      name: { familyName: 'Employee', givenName: 'Darl' },
      emails: [{ type: 'work', primary: true }, { type: 'other' }],
    });
    for (const filter of [
      'userName eq "test_user_1"',
      'externalId eq "external Test_User_1"',
      'emails[type eq "work"].value eq "test_user_1@example.com"',
      `id eq "${id}" and userName eq "Test_User_1"`,
      'urn:ietf:params:scim:schemas:core:2.0:User:userName EQ "Test_User_1" AND emails.value eq "Test_User_1@example.com"',
    ]) {
      const { status, body } = await call('GET', `/Users${query({ filter })}`);
      expect([filter, status, body.schemas, body.totalResults]).toEqual([filter, 200, [listSchema], 1]);
      expect(body.Resources[0].id).toBe(id);
    }
    for (const filter of [
      'userName eq "non-existent user"',
      'externalId eq "External Test_User_1"',
      'emails[type eq "other"].value eq "test_user_1@example.com"',
      `id eq "${id}" and userName eq "another"`,
    ]) {
      const { body } = await call('GET', `/Users${query({ filter })}`);
      expect([filter, body.totalResults, body.Resources]).toEqual([filter, 0, []]);
    }
    const multi = await directory.patch(
      at,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@example.com' },
      { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    );
    expect(multi.status).toBe(200);
    expect(multi.body).toMatchObject({
      name: { familyName: 'updatedFamilyName', givenName: 'Darl' },
      emails: [{ value: 'updated@example.com', type: 'work', primary: true }, {}],
    });
    const single = await directory.patch(at, { op: 'Replace', path: 'userName', value: 'newusername' });
    expect(single.body.userName).toBe('newusername');
    expect((await call('GET', `/Users${query({ filter: 'userName eq "Test_User_1"' })}`)).body.totalResults).toBe(0);

    for (const [value, active] of [
      ['False', false],
      ['True', true],
      [false, false],
    ]) {
      const disabled = await directory.patch(at, { op: 'Replace', path: 'active', value });
      expect([disabled.status, disabled.body.active]).toEqual([200, active]);
    }
    expect((await call('GET', at)).body.active).toBe(false);
    expect((await call('DELETE', at)).status).toBe(204);
    expect((await call('GET', at)).status).toBe(404);
    expect((await call('DELETE', at)).status).toBe(404);
  });

  it('with text for booleans, extensions, and attributes of later schemas are accepted', async () => {
    const created = await call('POST', '/Users', employee('emp1', { active: 'True', adreses: [{ country: 'x' }] }));
    expect([created.status, created.body.active]).toEqual([201, true]);
    expect(JSON.stringify(created.body)).not.toContain('Bermuda');
    const pathless = await directory.patch(`/Users/${created.body.id}`, {
      op: 'Add',
      value: {
        'name.givenName': 'Ryan',
        'emails[type eq "home"].value': 'home@example.com',
        [`${enterprise}:department`]: 'x',
      },
    });
    expect(pathless.body.name.givenName).toBe('Ryan');
    expect(pathless.body.emails).toContainEqual({ type: 'home', value: 'home@example.com' });
    const removed = await directory.patch(
      `/Users/${created.body.id}`,
      { op: 'Remove', path: 'emails[type eq "home"]' },
      { op: 'Remove', path: 'externalId' },
      { op: 'Remove', path: 'title' },
    );
    expect(removed.body.emails).toHaveLength(2);
    expect(removed.body).not.toHaveProperty('externalId');
  });

  it.each([
    ['without userName', { userName: undefined }, 'invalidValue', /userName/],
    ['with an address that is none', { emails: [{ value: 'no address' }] }, 'invalidValue', /emails/],
    ['with active that is no boolean', { active: 'perhaps' }, 'invalidValue', /active/],
  ])('%s are rejected with 400', async (_, more, scimType, detail) => {
    const { status, body } = await call('POST', '/Users', employee('wrong', more));
    expect([status, body.schemas, body.scimType]).toEqual([400, [errorSchema], scimType]);
    expect(body.detail).toMatch(detail);
  });

  it('with a malformed body are rejected with 400', async () => {
    const { status, body } = await call('POST', '/Users', '{ "acve": tre, }');
    expect([status, body.scimType]).toEqual([400, 'invalidSyntax']);
  });

  it('that exist are rejected with 409', async () => {
    await call('POST', '/Users', employee('emp3'));
    const { status, body } = await call('POST', '/Users', employee('EMP3'));
    expect([status, body.scimType, body.detail]).toEqual([409, 'uniqueness', expect.stringContaining('EMP3')]);
    const other = await call('POST', '/Users', employee('emp4', { emails: [{ value: 'emp3@example.com' }] }));
    expect([other.status, other.body.scimType]).toEqual([409, 'uniqueness']);
    expect((await call('POST', '/Users', employee('emp4'))).status).toBe(201);
  });

  it('are listed by pages, with the requested attributes', async () => {
    const { body } = await call('GET', '/Users?startIndex=1&count=2');
    expect(body).toMatchObject({ itemsPerPage: 2, startIndex: 1 });
    const rest = (await call('GET', `/Users?startIndex=3&count=${body.totalResults}`)).body;
    expect(rest.Resources).toHaveLength(body.totalResults - 2);
    const ids = [...body.Resources, ...rest.Resources].map(({ id }) => id);
    expect(new Set(ids).size).toBe(body.totalResults);
    const none = (await call('GET', '/Users?count=0')).body;
    expect([none.totalResults, none.Resources]).toEqual([body.totalResults, []]);
    const some = (await call('GET', '/Users?attributes=userName,emails.value&count=1')).body.Resources[0];
    expect(Object.keys(some).sort()).toEqual(['emails', 'id', 'schemas', 'userName']);
    expect(Object.keys(some.emails[0])).toEqual(['value']);
    const without = (await call('GET', '/Users?excludedAttributes=emails,name&count=1')).body.Resources[0];
    expect(without).not.toHaveProperty('emails');
    expect(without).toHaveProperty('userName');
  });

  it.each([
    'userName sw "O"',
    'name.familyName eq "Employee"',
    'userName eq "a" or userName eq "b"',
    'not (userName eq "a")',
    'userName eq',
    'userName pr',
    'meta.created gt "2015-10-10T14:38:21Z"',
    'userName eq "a" and',
    '('.repeat(1000),
  ])('filter %j is rejected with 400 invalidFilter', async (filter) => {
    const { status, body } = await call('GET', `/Users${query({ filter })}`);
    expect([status, body.scimType]).toEqual([400, 'invalidFilter']);
  });
});

describe('groups', () => {
  it('are created, found, renamed and deleted, and members are added and removed', async () => {
    const [a, b] = [await directory.user('a@entra.test'), await directory.user('b@entra.test')];
    const created = await call('POST', '/Groups', {
      schemas: [groupSchema, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'displayName',
      meta: { resourceType: 'Group' },
    });
    expect([created.status, created.body.members]).toEqual([201, []]);
    const at = `/Groups/${created.body.id}`;
    const found = await call(
      'GET',
      `/Groups${query({ excludedAttributes: 'members', filter: 'displayName eq "DISPLAYNAME"' })}`,
    );
    expect(found.body.Resources).toEqual([expect.objectContaining({ id: created.body.id })]);
    expect(found.body.Resources[0]).not.toHaveProperty('members');
    expect((await call('GET', `${at}?excludedAttributes=members`)).body).not.toHaveProperty('members');

    const add = {
      op: 'Add',
      path: 'members',
      value: [
        { $ref: null, value: a.id },
        { displayName: 'x', value: b.id },
      ],
    };
    expect((await directory.patch(at, add)).status).toBe(204);
    expect((await call('GET', at)).body.members).toHaveLength(2);
    const isMember = async (id: string) =>
      (await call('GET', `/Groups${query({ filter: `id eq "${created.body.id}" and members eq "${id}"` })}`)).body
        .totalResults;
    expect(await isMember(a.id)).toBe(1);
    const listed = await directory.patch(at, { op: 'Remove', path: 'members', value: [{ $ref: null, value: a.id }] });
    expect(listed.status).toBe(204);
    expect([await isMember(a.id), await isMember(b.id)]).toEqual([0, 1]);
    expect((await directory.patch(at, { op: 'Remove', path: 'members' })).status).toBe(204);
    expect((await call('GET', at)).body.members).toEqual([]);

    expect((await directory.patch(at, { op: 'Replace', path: 'displayName', value: 'updated' })).status).toBe(204);
    const put = { schemas: [groupSchema], displayName: 'putName', members: [{ value: a.id, display: 'VP' }] };
    const replaced = await call('PUT', at, put);
    expect([replaced.status, replaced.body.displayName, replaced.body.members[0].value]).toEqual([
      200,
      'putName',
      a.id,
    ]);
    // Omitted members stay, as in HCP Terraform.
    expect((await call('PUT', at, { displayName: 'Tiffany Ortiz' })).body.members).toHaveLength(1);
    expect((await call('GET', `/Users/${a.id}`)).body.groups).toEqual([
      expect.objectContaining({ value: created.body.id, display: 'Tiffany Ortiz' }),
    ]);
    expect((await call('DELETE', at)).status).toBe(204);
    expect((await call('GET', `/Users/${a.id}`)).body.groups).toEqual([]);
    expect((await call('GET', '/Groups')).body.Resources).toEqual([]);
  });

  it('with a member who is no user of the directory are rejected with 400', async () => {
    const group = await directory.group('Strangers');
    for (const value of [[{ value: 'string id 1' }], 'string id 2', [{ value: api.userId }]]) {
      const { status, body } = await directory.patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value });
      expect([status, body.scimType]).toEqual([400, 'invalidValue']);
    }
  });

  it('of the same name, or with the name of the owners, are rejected with 409', async () => {
    await directory.group('Twice');
    for (const displayName of ['TWICE', 'owners', 'Owners', 'sso']) {
      const { status, body } = await call('POST', '/Groups', { displayName });
      expect([displayName, status, body.scimType]).toEqual([displayName, 409, 'uniqueness']);
    }
  });
});

describe('operations', () => {
  it.each([
    ['an unknown operation', { op: 'move', path: 'userName', value: 'x' }, 'invalidSyntax'],
    ['a remove without a path', { op: 'remove' }, 'noTarget'],
    ['an unknown attribute', { op: 'replace', path: 'nickNames', value: 'x' }, 'invalidPath'],
    ['a malformed path', { op: 'replace', path: 'emails[type eq work', value: 'x' }, 'invalidPath'],
    ['the prototype', { op: 'replace', path: '__proto__', value: { admin: true } }, 'invalidPath'],
    ['an attribute of this platform', { op: 'replace', path: 'id', value: 'x' }, 'mutability'],
    ['groups of the user', { op: 'add', path: 'groups', value: [{ value: 'team-x' }] }, 'mutability'],
    ['the removal of the userName', { op: 'remove', path: 'userName' }, 'invalidValue'],
  ])('on %s are rejected with 400, and change nothing', async (_, operation, scimType) => {
    const user = await directory.user(
      `${scimType}-${'path' in operation ? operation.path : ''}${operation.op}@x.test`.replaceAll(' ', ''),
    );
    const { status, body } = await directory.patch(
      `/Users/${user.id}`,
      { op: 'replace', path: 'active', value: true },
      operation,
    );
    expect([status, body.scimType]).toEqual([400, scimType]);
    expect((await call('GET', `/Users/${user.id}`)).body).toEqual(user);
  });

  it('without a list are rejected with 400', async () => {
    const user = await directory.user('no-operations@x.test');
    const { status, body } = await call('PATCH', `/Users/${user.id}`, { schemas: [patchSchema] });
    expect([status, body.scimType]).toEqual([400, 'invalidSyntax']);
  });
});

describe('versions', () => {
  it('reject a change of an outdated version with 412, and skip a known one with 304', async () => {
    const user = await directory.user('versions@x.test');
    const at = `/Users/${user.id}`;
    const read = await call('GET', at);
    expect(read.headers.etag).toBe(user.meta.version);
    expect((await call('GET', at, undefined, { headers: { 'if-none-match': user.meta.version } })).status).toBe(304);
    const guarded = (version: string) =>
      call('PUT', at, { ...user, displayName: version }, { headers: { 'if-match': version } });
    expect((await guarded(user.meta.version)).status).toBe(200);
    expect((await guarded(user.meta.version)).status).toBe(412);
    const removal = await call('DELETE', at, undefined, { headers: { 'if-match': user.meta.version } });
    expect(removal.status).toBe(412);
    expect((await call('GET', at)).status).toBe(200);
    const group = await directory.group('Versions');
    await directory.patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: user.id }] });
    const stale = await call(
      'PATCH',
      `/Groups/${group.id}`,
      { Operations: [] },
      { headers: { 'if-match': group.meta.version } },
    );
    expect(stale.status).toBe(412);
  });
});

describe('discovery', () => {
  it('describes capabilities, resource types and schemas', async () => {
    const config = (await call('GET', '/ServiceProviderConfig')).body;
    expect([config.patch, config.etag, config.bulk.supported, config.filter.supported]).toEqual([
      { supported: true },
      { supported: true },
      false,
      true,
    ]);
    const types = (await call('GET', '/ResourceTypes')).body;
    expect(types.Resources.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['/Users', '/Groups']);
    expect((await call('GET', '/ResourceTypes/Group')).body.schema).toBe(groupSchema);
    const schemas = (await call('GET', '/Schemas')).body;
    expect(schemas.totalResults).toBe(2);
    expect(JSON.stringify(schemas)).toContain('User Account');
    expect(JSON.stringify(schemas)).not.toContain('null');
    const { attributes } = (await call('GET', `/Schemas/${userSchema}`)).body;
    const [userName] = attributes;
    expect(attributes).toContainEqual(expect.objectContaining({ name: 'externalId', caseExact: true }));
    expect(userName).toMatchObject({ name: 'userName', required: true, uniqueness: 'server', mutability: 'readWrite' });
    expect((await call('GET', '/Schemas/unknown')).status).toBe(404);
    expect((await call('GET', '/Bulk')).body.schemas).toEqual([errorSchema]);
  });
});
