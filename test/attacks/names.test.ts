import { beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { Client, isFinalRun } from '#test/e2e/support/waiting.ts';
import { type Person, Scene, uniqueName } from './support.ts';

/**
 * Anyone may create organizations, and chooses names, addresses and groups: no user passes for another one, no member of
 * many organizations escapes an audit trail, and a deleted organization stays out of reach.
 */

const kelvin = '\u212A';

const scene = await Scene.open({
  STEPFORM_ORGANIZATION_CREATORS: 'anyone',
  STEPFORM_SIGN_IN_EMAIL_DOMAINS: 'example.test,kompany.test',
  STEPFORM_SIGN_IN_GROUP_ORGANIZATIONS: 'local,named-one',
});

/** Policies read `created_by`: no user can use the name of another one. */
const rename = (token: string, username: string) =>
  scene.call(token, 'PATCH', 'account/update', { data: { type: 'users', attributes: { username } } });
const nameOf = async (token: string): Promise<string> =>
  (await scene.must(token, 'GET', 'account/details')).attributes.username;

describe('a username', () => {
  it('cannot be taken twice, in any spelling', async () => {
    const victim = await scene.signIn();
    const attacker = await scene.signIn();
    const name = await nameOf(victim.token);
    for (const spelled of [name, name.toUpperCase()]) {
      const { status, body } = await rename(attacker.token, spelled);
      expect(status).toBe(422);
      expect(body.errors[0].source.pointer).toBe('/data/attributes/username');
    }
    expect(await nameOf(attacker.token)).not.toBe(name);
  });

  it('of the first owner cannot be claimed through the issuer', async () => {
    const name = await nameOf(scene.owner);
    const attacker = await scene.signIn({ preferred_username: name });
    expect(await nameOf(attacker.token)).not.toBe(name);
    const invited = `${uniqueName('invited')}@example.test`;
    await scene.invite(invited);
    const second = await scene.signIn({ email: invited, preferred_username: name });
    expect(await nameOf(second.token)).not.toBe(name);
  });

  it('goes to one of several concurrent requests', async () => {
    const people = [await scene.signIn(), await scene.signIn(), await scene.signIn()];
    const username = uniqueName('wanted');
    const answers = await Promise.all(people.map(({ token }) => rename(token, username)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
  });

  it('stays reserved for its user after a rename', async () => {
    const victim = await scene.signIn();
    const attacker = await scene.signIn();
    const before = await nameOf(victim.token);
    expect((await rename(victim.token, uniqueName('new'))).status).toBe(200);
    expect((await rename(attacker.token, before)).status).toBe(422);
    expect((await rename(victim.token, before)).status).toBe(200);
  });

  it('of a service account cannot be taken by a user', async () => {
    const attacker = await scene.signIn({ preferred_username: `api-org-${scene.organization}` });
    const name = await nameOf(attacker.token);
    expect(name).not.toMatch(/^(api-org|api-team|audit-trail)-/);
    for (const reserved of [`api-org-${scene.organization}`, 'API-team-abc', 'audit-trail-acme']) {
      expect((await rename(attacker.token, reserved)).status).toBe(422);
    }
  });
});

it('an account update without changes succeeds and keeps the username', async () => {
  const { token } = await scene.signIn();
  const bodies = [{ data: { type: 'users', attributes: {} } }, { data: { type: 'users' } }];
  for (const body of bodies) expect((await scene.call(token, 'PATCH', 'account/update', body)).status).toBe(200);
});

it('other services see no address that a user merely entered', async () => {
  const mallory = await scene.signIn();
  await scene.must(mallory.token, 'PATCH', 'account/update', {
    data: { type: 'users', attributes: { email: 'ceo@example.test' } },
  });
  // The owner's address in templates of environments.
  const me = await fetch(`${scene.platform.local.environmentsUrl}/api/v2/users/me`, {
    headers: { 'coder-session-token': mallory.token },
  });
  expect(await me.json()).toMatchObject({ email: mallory.account.email });
});

it('an address that Unicode folds to the invited one does not receive the invitation', async () => {
  const name = uniqueName('karl');
  await scene.invite(`${name}@example.test`);
  const mallory = await scene.signIn({ email: `${name.replace('k', kelvin)}@example.test` });
  expect((await scene.get(mallory.token, `organizations/${scene.organization}`)).status).toBe(404);
});

it('users of a domain that Unicode folds to an allowed one cannot sign in', async () => {
  const email = `mallory@${kelvin}ompany.test`;
  await expect(scene.signIn({ email })).rejects.toThrow();
});

it('names of organizations and teams cannot differ only in case', async () => {
  const name = scene.organization.toUpperCase();
  const attributes = { name, email: 'o@example.test' };
  expect((await scene.post(scene.owner, 'organizations', attributes)).status).toBe(422);
  const team = await scene.team(scene.owner, { name: uniqueName('platform') });
  const path = `organizations/${scene.organization}/teams`;
  expect((await scene.post(scene.owner, path, { name: team.attributes.name.toUpperCase() })).status).toBe(422);
});

it('a user whose username is the id of another user does not become a team member in their place', async () => {
  const victim = await scene.signIn();
  const mallory = await scene.signIn();
  const { id } = await scene.invite(mallory.account.email ?? '');
  await scene.must(mallory.token, 'POST', `organization-memberships/${id}/actions/accept`);
  const renamed = await scene.call(mallory.token, 'PATCH', 'account/update', {
    data: { type: 'users', attributes: { username: victim.id } },
  });
  expect(renamed.status).toBe(422);
  const team = await scene.team(scene.owner);
  // The owner means the victim, who has not accepted an invitation yet.
  const added = await scene.call(scene.owner, 'POST', `teams/${team.id}/relationships/users`, {
    data: [{ type: 'users', id: victim.id }],
  });
  expect(added.status).toBe(422);
  expect((await scene.must(scene.owner, 'GET', `teams/${team.id}`)).attributes['users-count']).toBe(0);
});

it('a user of the issuer gets no username in the form of another user’s id', async () => {
  const victim = await scene.signIn();
  const mallory = await scene.signIn({ preferred_username: victim.id });
  expect((await scene.must(mallory.token, 'GET', 'account/details')).attributes.username).not.toBe(victim.id);
});

it('an organization is found by its id before one whose name equals that id', async () => {
  const { environmentsUrl } = scene.platform.local;
  const ask = async (token: string, path: string) => {
    const answer = await fetch(`${environmentsUrl}/api/v2${path}`, { headers: { 'coder-session-token': token } });
    return (await answer.json()) as { id: string; name: string };
  };
  const victim = await scene.signIn();
  const home = await scene.organizationOf(victim.token);
  const { id } = await ask(victim.token, `/organizations/${home}`);
  const mallory = await scene.signIn();
  // First in the order of names.
  const named = await scene.post(mallory.token, 'organizations', { name: id, email: 'm@example.test' });
  expect(named.status).toBe(201);
  const invitation = await scene.invite(victim.account.email ?? '', [], mallory.token, id);
  await scene.must(victim.token, 'POST', `organization-memberships/${invitation.id}/actions/accept`);
  expect((await ask(victim.token, `/organizations/${id}`)).name).toBe(home);
});

it('groups map to teams of listed organizations, and of no others', async () => {
  const user = await scene.signIn();
  await scene.must(user.token, 'POST', 'organizations', {
    data: { attributes: { name: 'named-one', email: 'n@example.test' } },
  });
  const group = uniqueName('group');
  const team = await scene.team(user.token, { 'sso-team-id': group }, 'named-one');
  await scene.signIn({ groups: [group] });
  expect((await scene.must(user.token, 'GET', `teams/${team.id}`)).attributes['users-count']).toBe(1);
  const other = await scene.organizationOf(user.token);
  const refused = await scene.post(user.token, `organizations/${other}/teams`, {
    name: 'trap',
    'sso-team-id': group,
  });
  expect(refused.status).toBe(422);
});

it('the audit trails of all organizations have a new token of a member of more than 100', async () => {
  const mallory = await scene.signIn();
  // Earlier code left out the last organization by name.
  const last = `zz-${uniqueName('victim')}`;
  const create = (name: string, token: string) =>
    scene.must(token, 'POST', 'organizations', { data: { attributes: { name, email: 'o@example.test' } } });
  await create(last, scene.owner);
  const { id } = await scene.invite(mallory.account.email ?? '', [], scene.owner, last);
  await scene.must(mallory.token, 'POST', `organization-memberships/${id}/actions/accept`);
  const prefix = uniqueName('decoy');
  for (let i = 0; i < 101; i++) await create(`${prefix}-${i}`, mallory.token);
  const issued = await scene.must(mallory.token, 'POST', `users/${mallory.id}/authentication-tokens`, {
    data: { attributes: { description: 'unseen' } },
  });
  const path = `organization/audit-trail?filter[organization][name]=${last}&sort=-timestamp`;
  const trail = (await scene.get(scene.owner, path)).body.data;
  expect(trail.map(({ resource }: { resource: { id: string } }) => resource.id)).toContain(issued.id);
  const listed = await scene.get(mallory.token, 'organizations?page[size]=100&page[number]=2');
  expect(listed.body.data.map(({ id: name }: { id: string }) => name)).toContain(last);
});

/** Owner of an organization that is deleted below: then its data are inaccessible, also to the next owner of a similar name. */
const former: Person = await scene.signIn();
const mallory: Person = await scene.signIn();
const organization = await scene.organizationOf(former.token);
const { token } = former;
const client = new Client(scene.platform.local.url, token);
const workspace = await scene.workspace(token, organization);
const version = await client.upload(workspace.id, await packFiles({ 'main.tf': 'output "secret" { value = "s" }' }));
const run = await client.createRun(workspace.id, { 'auto-apply': true }, version.id);
await client.waitForRun(run.id, isFinalRun);
const state = await scene.must(token, 'GET', `workspaces/${workspace.id}/current-state-version`);
const plan = (await scene.must(token, 'GET', `runs/${run.id}`)).relationships.plan.data.id;
const of = (what: string) => `organizations/${organization}/${what}`;
const policy = await scene.must(token, 'POST', of('policies'), {
  data: { attributes: { name: 'p', kind: 'opa', query: 'data.a.deny', 'enforcement-level': 'advisory' } },
});
const set = await scene.must(token, 'POST', of('policy-sets'), {
  data: { attributes: { name: 's', kind: 'opa', global: true } },
});
const varset = await scene.must(token, 'POST', of('varsets'), { data: { attributes: { name: 'v', global: true } } });
const task = await scene
  .must(token, 'POST', of('tasks'), {
    data: { attributes: { name: 't', url: scene.issuer.url, category: 'task', enabled: false } },
  })
  .catch(() => undefined);
const pool = await scene.must(token, 'POST', of('agent-pools'), { data: { attributes: { name: 'a' } } });
const team = await scene.team(token, {}, organization);
const teamId = team.id;
const project = await scene.must(token, 'POST', of('projects'), { data: { attributes: { name: 'proj' } } });
const secretOf = async (path: string, attributes: object = {}): Promise<string> =>
  (await scene.must(token, 'POST', path, { data: { attributes } })).attributes.token;
const serviceTokens: string[] = [
  await secretOf(of('authentication-token')),
  await secretOf(`${of('authentication-token')}?token=audit-trails`),
  await secretOf(`teams/${team.id}/authentication-token`),
  await secretOf(`agent-pools/${pool.id}/authentication-tokens`, { description: 'agent' }),
];
const invited = `${uniqueName('invited')}@example.test`;
await scene.invite(invited, [], token, organization);
/** Paths of its former resources. */
const paths: string[] = [
  of('workspaces'),
  `organizations/${organization}`,
  `organization/audit-trail?filter[organization][name]=${organization}`,
  `workspaces/${workspace.id}`,
  `runs/${run.id}`,
  `plans/${plan}`,
  `plans/${plan}/json-output`,
  `runs/${run.id}/run-events`,
  `configuration-versions/${version.id}`,
  `configuration-versions/${version.id}/download`,
  `state-versions/${state.id}`,
  `state-versions/${state.id}/download`,
  `policies/${policy.id}`,
  `policy-sets/${set.id}`,
  `varsets/${varset.id}`,
  ...(task ? [`tasks/${task.id}`] : []),
  `agent-pools/${pool.id}`,
  `teams/${team.id}`,
  `projects/${project.id}`,
];
for (const path of paths) expect([path, (await scene.get(token, path)).status < 300]).toEqual([path, true]);
await scene.must(token, 'DELETE', `workspaces/${workspace.id}`);

it('resources of a deleted workspace are hidden from owners', async () => {
  const ofWorkspace = paths.filter((path) => /^(workspaces|runs|plans|configuration|state)/.test(path));
  for (const path of ofWorkspace) {
    expect([path, (await scene.get(former.token, path)).status]).toEqual([path, 404]);
  }
});

describe('a deleted organization', () => {
  beforeAll(async () => {
    await scene.must(former.token, 'DELETE', `organizations/${organization}`);
  });

  it('keeps its name reserved', async () => {
    for (const { token } of [mallory, former]) {
      const attributes = { name: organization, email: 'm@example.test' };
      const { status, body } = await scene.post(token, 'organizations', attributes);
      expect(status).toBe(422);
      expect(body.errors[0].source.pointer).toBe('/data/attributes/name');
    }
  });

  it('is invisible to its former owner and to callers who request its name', async () => {
    for (const { token } of [mallory, former]) {
      for (const path of paths) {
        const expected = path.startsWith('organization/audit-trail') ? 403 : 404;
        expect([path, (await scene.get(token, path)).status]).toEqual([path, expected]);
      }
    }
    const listed = await scene.must(former.token, 'GET', 'organizations');
    expect(listed.map(({ id }: { id: string }) => id)).not.toContain(organization);
  });

  it('has no valid tokens', async () => {
    for (const token of serviceTokens) {
      expect((await scene.get(token, 'account/details')).status).toBe(401);
    }
    const agent = await fetch(`${scene.platform.local.url}/agent/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${serviceTokens[3]}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect([401, 404]).toContain(agent.status);
  });

  it('accepts no members, by invitation or by team id', async () => {
    const late = await scene.signIn({ email: invited });
    expect((await scene.must(late.token, 'GET', 'organizations')).length).toBe(0);
    expect((await scene.must(late.token, 'GET', 'organization-memberships')).length).toBe(0);
    const joined = await scene.call(former.token, 'POST', `teams/${teamId}/relationships/users`, {
      data: [{ type: 'users', id: former.id }],
    });
    expect(joined.status).toBe(404);
  });
});
