import { describe, expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/** A leaked token of a team or an organization is worthless once it is deleted. */

const scene = await Scene.open();

const newUser = () => {
  const sub = uniqueName('mallory');
  return { sub, email: `${sub}@example.test`, email_verified: true };
};

const unsaid = { data: { attributes: {} } };

const ofTeam = async () => {
  const team = await scene.team(scene.owner);
  return scene.must(scene.owner, 'POST', `teams/${team.id}/authentication-token`, unsaid);
};
const ofOwners = async () => {
  const teams = await scene.must(scene.owner, 'GET', `organizations/${scene.organization}/teams?filter[names]=owners`);
  return scene.must(scene.owner, 'POST', `teams/${teams[0].id}/authentication-tokens`, {
    data: { attributes: { description: uniqueName('ci') } },
  });
};
const ofOrganization = () =>
  scene.must(scene.owner, 'POST', `organizations/${scene.organization}/authentication-token`, unsaid);

describe.each([
  ['a team', ofTeam],
  ['the owners team', ofOwners],
  ['an organization', ofOrganization],
])('the token of %s', (_, make) => {
  it('cannot connect an identity', async () => {
    const token = await make();
    const account = newUser();
    const connected = await scene.exchange(account, token.attributes.token);
    expect(connected).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await scene.must(scene.owner, 'DELETE', `authentication-tokens/${token.id}`);
    const { token: session } = await scene.signIn(account);
    expect((await scene.get(session, `organizations/${scene.organization}`)).status).toBe(404);
  });
});

it("revoking the owners team's token revokes the tokens that it created", async () => {
  const leaked = await ofOwners();
  const team = await scene.team(scene.owner);
  const secret = leaked.attributes.token;
  const described = { data: { attributes: { description: uniqueName('kept') } } };
  const pool = await scene.must(scene.owner, 'POST', `organizations/${scene.organization}/agent-pools`, {
    data: { attributes: { name: uniqueName('pool') } },
  });
  const issued = [
    await scene.must(secret, 'POST', `teams/${team.id}/authentication-tokens`, described),
    await scene.must(secret, 'POST', `organizations/${scene.organization}/authentication-token`, unsaid),
    await scene.must(secret, 'POST', `agent-pools/${pool.id}/authentication-tokens`, described),
  ];
  const tokens = issued.map(({ attributes }) => attributes.token);
  expect((await scene.get(tokens[0], 'account/details')).status).toBe(200);
  // A token created by a token that a token created.
  const second = await scene.must(tokens[1], 'POST', `teams/${team.id}/authentication-tokens`, {
    data: { attributes: { description: uniqueName('deeper') } },
  });
  await scene.must(scene.owner, 'DELETE', `authentication-tokens/${leaked.id}`);
  for (const token of [tokens[0], tokens[1], second.attributes.token]) {
    expect((await scene.get(token, 'account/details')).status).toBe(401);
  }
  for (const { id } of [...issued, second]) {
    expect((await scene.get(scene.owner, `authentication-tokens/${id}`)).status).toBe(404);
  }
});

it('a user can list and disconnect identities, which ends their sessions', async () => {
  const victim = await scene.signIn();
  const attacker = newUser();
  const connected = await scene.exchange(attacker, victim.token);
  expect(connected.status).toBe(200);
  const intruder = connected.body.access_token as string;
  const listed = await scene.must(victim.token, 'GET', 'account/identities');
  expect(listed.map(({ attributes }: { attributes: { subject: string } }) => attributes.subject).sort()).toEqual(
    [attacker.sub, victim.account.sub].sort(),
  );
  const theirs = listed.find(
    ({ attributes }: { attributes: { subject: string } }) => attributes.subject === attacker.sub,
  );
  expect((await scene.get(intruder, 'account/details')).status).toBe(200);
  await scene.must(victim.token, 'DELETE', `account/identities/${theirs.id}`);
  expect((await scene.get(intruder, 'account/details')).status).toBe(401);
  expect((await scene.signIn(attacker)).id).not.toBe(victim.id);
  expect((await scene.get(victim.token, 'account/details')).status).toBe(200);
});

it('the audit trail has the connection and disconnection of an identity', async () => {
  const account = newUser();
  expect((await scene.exchange(account, scene.owner)).status).toBe(200);
  const [identity] = await scene.must(scene.owner, 'GET', 'account/identities');
  await scene.must(scene.owner, 'DELETE', `account/identities/${identity.id}`);
  const trail = await scene.get(
    scene.owner,
    `organization/audit-trail?filter[organization][name]=${scene.organization}&sort=-timestamp`,
  );
  const actions = trail.body.data
    .filter(({ resource }: { resource: { type: string } }) => resource.type === 'identity')
    .map(({ resource }: { resource: { action: string } }) => resource.action);
  expect(actions).toEqual(['destroy', 'create']);
});

it('tokens remain linked to a replaced token of the owners team that created them', async () => {
  const [owners] = await scene.must(
    scene.owner,
    'GET',
    `organizations/${scene.organization}/teams?filter[names]=owners`,
  );
  const path = `teams/${owners.id}/authentication-token`;
  const first = await scene.must(scene.owner, 'POST', path, unsaid);
  const second = await scene.must(first.attributes.token, 'POST', path, unsaid);
  expect((await scene.get(first.attributes.token, 'account/details')).status).toBe(401);
  expect((await scene.get(second.attributes.token, 'account/details')).status).toBe(200);
  const issued = await scene.must(
    second.attributes.token,
    'POST',
    `organizations/${scene.organization}/authentication-token`,
    unsaid,
  );
  await scene.must(scene.owner, 'DELETE', path);
  for (const { attributes } of [second, issued]) {
    expect((await scene.get(attributes.token, 'account/details')).status).toBe(401);
  }
});

it("tokens that the owners team's token creates expire with it", async () => {
  const [owners] = await scene.must(
    scene.owner,
    'GET',
    `organizations/${scene.organization}/teams?filter[names]=owners`,
  );
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const make = (token: string, end?: string) =>
    scene.post(token, `teams/${owners.id}/authentication-tokens`, {
      description: uniqueName('ci'),
      'expired-at': end,
    });
  const end = inMinutes(10);
  const { token } = (await make(scene.owner, end)).body.data.attributes;
  const longer = await make(token, inMinutes(20));
  expect(longer.status).toBe(422);
  expect(longer.body.errors[0].source.pointer).toBe('/data/attributes/expired-at');
  expect((await make(token)).body.data.attributes['expired-at']).toBe(end);
});
