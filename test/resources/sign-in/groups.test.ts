import { beforeEach, describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { type Account, startIssuer } from '#test/support/issuer.ts';
import { Browser, callback, configure } from './support.ts';

/** Effects of a sign-in: accepted invitations, and teams mapped by the issuer's groups. */

const api = await startApi();
const { createToken } = await import('#resources/users/tokens.ts');
const issuer = await startIssuer();
issuer.trust(callback);
beforeEach(() => configure({ groupsClaim: 'groups' }, issuer));

let people = 0;
const newAccount = (change: Partial<Account> = {}): Account => {
  const sub = `person-${++people}`;
  return { sub, email: `${sub}@example.test`, email_verified: true, ...change };
};

/** @returns the session's view of the API */
const signIn = async (account: Account, token?: string) => {
  issuer.account = account;
  const { status, body } = await new Browser().signIn(issuer, token);
  expect(status).toBe(200);
  const session: string = body.access_token;
  const ask = (path: string) => api.get(path, { token: session });
  return {
    id: (await ask('account/details')).body.data.id as string,
    organizations: (await ask('organizations')).body.data.map(({ id }: { id: string }) => id) as string[],
    /** Accepts the person's invitations. @returns their organizations afterwards */
    accept: async () => {
      for (const { id } of (await ask('organization-memberships?filter[status]=invited')).body.data) {
        await api.call('POST', `organization-memberships/${id}/actions/accept`, { token: session });
      }
      return (await ask('organizations')).body.data.map(({ id }: { id: string }) => id) as string[];
    },
    teams: async () => {
      const { data = [] } = (await ask('organizations/acme/teams')).body;
      return data.map(({ attributes }: { attributes: { name: string } }) => attributes.name).sort() as string[];
    },
  };
};

const invite = async (email: string, teams: string[] = []) => {
  const data = teams.map((id) => ({ type: 'teams', id }));
  const answer = await api.post('organizations/acme/organization-memberships', { email }, { teams: { data } });
  expect(answer.status).toBe(201);
  return answer.body.data;
};

const makeTeam = async (attributes: object = {}) =>
  (await api.post('organizations/acme/teams', { name: uniqueName('crew'), ...attributes })).body.data;

describe('an invitation', () => {
  it('is accepted by signing in with its verified address', async () => {
    const team = await makeTeam();
    const account = newAccount();
    const invitation = await invite(account.email ?? '', [team.id]);
    const me = await signIn(account);
    expect(me.id).toBe(invitation.relationships.user.data.id);
    expect(me.organizations).toEqual(['acme']);
    expect(await me.teams()).toContain(team.attributes.name);
    const { data } = (await api.get(`organization-memberships/${invitation.id}`)).body;
    expect(data.attributes.status).toBe('active');
    expect((await signIn(account)).id).toBe(me.id);
  });

  it('is not accepted with an unverified address', async () => {
    const account = newAccount({ email_verified: false });
    await invite(account.email ?? '');
    expect((await signIn(account)).organizations).toEqual([]);
    const me = await signIn({ ...account, email_verified: true });
    expect(me.organizations).toEqual([]);
    expect(await me.accept()).toEqual(['acme']);
  });

  it('goes to the existing user, who can accept or decline it', async () => {
    const account = newAccount();
    const before = await signIn(account);
    await invite(account.email ?? '');
    const after = await signIn(account);
    expect(after).toMatchObject({ id: before.id, organizations: [] });
    expect(await after.accept()).toEqual(['acme']);
  });
});

describe('a group', () => {
  it('adds its members to the mapped team only', async () => {
    const group = uniqueName('group');
    const team = await makeTeam({ 'sso-team-id': group });
    const other = await makeTeam({ 'sso-team-id': uniqueName('group'), visibility: 'organization' });
    const me = await signIn(newAccount({ groups: [group, 'nothing-here'] }));
    expect(me.organizations).toEqual(['acme']);
    const teams = await me.teams();
    expect(teams).toContain(team.attributes.name);
    const { data } = (await api.get(`teams/${other.id}`)).body;
    expect(data.attributes['users-count']).toBe(0);
    const trail = (await api.get('organization/audit-trail?filter[organization][name]=acme')).body.data;
    const joined = trail.filter(
      ({ resource }: { resource: { action: string } }) => resource.action === 'join_by_group',
    );
    expect(joined).toMatchObject([{ auth: { accessor_id: me.id }, resource: { type: 'team', id: team.id } }]);
  });

  it('removes former members from the mapped team only, at the next sign-in', async () => {
    const [group, second] = [uniqueName('group'), uniqueName('group')];
    const [mapped, unmapped, own] = [
      await makeTeam({ 'sso-team-id': group }),
      await makeTeam({ 'sso-team-id': second }),
      await makeTeam(),
    ];
    const account = newAccount({ groups: [group, second] });
    const me = await signIn(account);
    await api.call('POST', `teams/${own.id}/relationships/organization-memberships`, {
      body: { data: [{ type: 'organization-memberships', id: (await membershipOf(me.id)).id }] },
    });
    const names = [mapped, unmapped, own].map(({ attributes }) => attributes.name);
    expect((await me.teams()).filter((name) => names.includes(name))).toEqual([...names].sort());
    const later = await signIn({ ...account, groups: [second] });
    expect((await later.teams()).filter((name) => names.includes(name))).toEqual([names[1], names[2]].sort());
  });

  it('ends the membership that it began with the last mapped team, in all teams', async () => {
    const group = uniqueName('group');
    await makeTeam({ 'sso-team-id': group });
    const own = await makeTeam();
    const account = newAccount({ groups: [group] });
    const me = await signIn(account);
    const { secret: token } = await createToken(me.id, 'laptop');
    const { id } = await membershipOf(me.id);
    await api.call('POST', `teams/${own.id}/relationships/organization-memberships`, {
      body: { data: [{ type: 'organization-memberships', id }] },
    });
    expect((await api.get('organizations/acme', { token })).status).toBe(200);
    expect((await signIn({ ...account, groups: ['another'] })).organizations).toEqual([]);
    expect((await api.get('organizations/acme', { token })).status).toBe(404);
    expect(await membershipOf(me.id)).toBeUndefined();
    expect((await api.get(`teams/${own.id}`)).body.data.attributes['users-count']).toBe(0);
    const trail = (await api.get('organization/audit-trail?filter[organization][name]=acme&sort=-timestamp')).body.data;
    const ended = trail.filter(({ resource }: { resource: { action: string } }) => resource.action === 'end_by_group');
    expect(ended).toMatchObject([{ auth: { accessor_id: me.id }, resource: { id } }]);
    expect((await signIn(account)).organizations).toEqual(['acme']);
  });

  it('ends no membership that began with an invitation', async () => {
    const group = uniqueName('group');
    await makeTeam({ 'sso-team-id': group });
    const account = newAccount({ groups: [group] });
    await invite(account.email ?? '');
    expect((await signIn(account)).organizations).toEqual(['acme']);
    expect((await signIn({ ...account, groups: [] })).organizations).toEqual(['acme']);
  });

  it('applies while the team has its name as sso-team-id', async () => {
    const [group, next] = [uniqueName('group'), uniqueName('group')];
    const team = await makeTeam();
    const account = newAccount({ groups: [group] });
    expect((await signIn(account)).organizations).toEqual([]);
    await api.patch(`teams/${team.id}`, { 'sso-team-id': group });
    expect(await (await signIn(account)).teams()).toContain(team.attributes.name);
    await api.patch(`teams/${team.id}`, { 'sso-team-id': next });
    expect(await (await signIn(account)).teams()).not.toContain(team.attributes.name);
    expect(await (await signIn({ ...account, groups: [next] })).teams()).toContain(team.attributes.name);
  });

  it('never removes the last owner, and is ignored without a configured claim', async () => {
    const owners = (await api.get('organizations/acme/teams?filter[names]=owners')).body.data[0];
    await api.patch(`teams/${owners.id}`, { 'sso-team-id': 'directors' });
    const me = await signIn(newAccount({ groups: [] }), api.token);
    expect(await me.teams()).toContain('owners');
    await api.patch(`teams/${owners.id}`, { 'sso-team-id': null });
    configure({}, issuer);
    const team = await makeTeam({ 'sso-team-id': 'unasked' });
    const other = await signIn(newAccount({ groups: ['unasked'] }));
    expect(other.organizations).toEqual([]);
    expect((await api.get(`teams/${team.id}`)).body.data.attributes['users-count']).toBe(0);
  });
});

const membershipOf = async (userId: string) => {
  const { data } = (await api.get('organizations/acme/organization-memberships?page[size]=100')).body;
  return data.find(
    (one: { relationships: { user: { data: { id: string } } } }) => one.relationships.user.data.id === userId,
  );
};
