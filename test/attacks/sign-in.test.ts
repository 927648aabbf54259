import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Scene, uniqueName } from './support.ts';

/**
 * Sign-ins: an attacker has seen a code, makes up a host name, or holds the token of a team or of an organization, which
 * is worthless once it is deleted.
 */

const scene = await Scene.open();

describe('the code of a sign-in', () => {
  const account = (sub: string) => ({ sub, email: `${sub}@example.test`, email_verified: true });
  const refused = { status: 400, body: { error: 'invalid_grant' } };

  it('is exchanged once', async () => {
    const { code, verifier } = await scene.code(account('once'));
    expect((await scene.redeem(code, verifier)).status).toBe(200);
    expect(await scene.redeem(code, verifier)).toMatchObject(refused);
  });

  it('is exchanged once by ten concurrent requests', async () => {
    const { code, verifier } = await scene.code(account('race'));
    const answers = await Promise.all(Array.from({ length: 10 }, () => scene.redeem(code, verifier)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is rejected without its verifier and consumed by a wrong guess', async () => {
    const { code, verifier } = await scene.code(account('guessed'));
    expect(await scene.redeem(code, 'A'.repeat(43))).toMatchObject(refused);
    expect(await scene.redeem(code, verifier)).toMatchObject(refused);
  });

  it('is not exchanged for another kind of token', async () => {
    const { code, verifier } = await scene.code(account('elsewhere'));
    const answer = await scene.redeem(code, verifier, { redirectUri: 'http://localhost:10000/login' });
    expect(answer).toMatchObject(refused);
  });

  it('is not issued for a callback in another browser', async () => {
    const { url } = scene.platform.local;
    scene.issuer.account = account('victim');
    const parameters = { client_id: 'page', code_challenge: 'A'.repeat(43), code_challenge_method: 'S256' };
    const begun = await fetch(`${url}/oauth/sign-in?${new URLSearchParams(parameters)}`, { redirect: 'manual' });
    const back = await scene.issuer.visit(begun.headers.get('location') ?? '');
    const came = await fetch(back, { redirect: 'manual' });
    await came.arrayBuffer();
    expect(came.headers.get('location') ?? '').not.toMatch(/[#?&]code=/);
  });
});

const evil = 'evil.example';

/** The complete response: headers and body. */
const ask = (path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(scene.platform.local.url);
    const sent = httpRequest({ hostname, port, path, headers }, async (response) => {
      const body = (await response.toArray()).join('');
      resolve({ status: response.statusCode ?? 0, text: `${JSON.stringify(response.headers)}\n${body}` });
    });
    sent.on('error', reject).end();
  });

const challenge = 'a'.repeat(43);
const pathsFor = async (): Promise<string[]> => {
  const workspace = await scene.workspace(scene.owner, scene.organization);
  return [
    '/.well-known/terraform.json',
    '/.well-known/openid-configuration',
    `/oauth/sign-in?client_id=page&code_challenge=${challenge}&code_challenge_method=S256`,
    `/oauth/authorization?client_id=terraform-cli&response_type=code&redirect_uri=http://localhost:10000/login&code_challenge=${challenge}&code_challenge_method=S256&state=x`,
    `/api/v2/workspaces/${workspace.id}`,
    `/api/v2/organizations/${scene.organization}/oauth-clients`,
    '/app',
    '/',
  ];
};

it('responses contain no host from a request header', async () => {
  const { host } = new URL(scene.platform.local.url);
  const authorization = `Bearer ${scene.owner}`;
  const forged: Record<string, string>[] = [
    { host: evil },
    { host: `${evil}:${host.split(':')[1]}` },
    { host, 'x-forwarded-host': evil },
    { host, forwarded: `host=${evil}` },
    { host, 'x-original-host': evil },
  ];
  for (const path of await pathsFor()) {
    for (const headers of forged) {
      const { status, text } = await ask(path, { ...headers, authorization });
      if (headers.host === host) expect([path, text.includes(evil)]).toEqual([path, false]);
      else expect([path, status]).toEqual([path, 421]);
    }
  }
});

it('the platform sends the issuer its own callback URL', async () => {
  const { host, origin } = new URL(scene.platform.local.url);
  const path = `/oauth/sign-in?client_id=page&code_challenge=${challenge}&code_challenge_method=S256`;
  const { status, text } = await ask(path, { host, 'x-forwarded-proto': 'https', 'x-forwarded-host': evil });
  expect(status).toBe(302);
  expect(text).toContain(encodeURIComponent(`${origin}/oauth/callback`));
});

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
