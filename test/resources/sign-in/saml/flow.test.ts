import { createVerify } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { codeIn } from '../support.ts';
import { configureSaml, entityId, goodResponse, newKeys, requestIn, SamlBrowser, setUp } from './support.ts';

/** Sign-in with SAML, with messages of a well-behaved identity provider. */

const api = await startApi();
const idp = await newKeys();
const own = await newKeys();
const sso = 'https://idp.example.test/sso?tenant=1';

beforeEach(async () => {
  configureSaml();
  const attributes = {
    enabled: true,
    debug: false,
    'idp-cert': idp.certificate,
    'idp-entity-id': entityId,
    'sso-endpoint-url': sso,
    'want-assertions-signed': false,
    'team-management-enabled': true,
    'authn-requests-signed': false,
    'site-admin-role': null,
    'sso-api-token-session-timeout': null,
    'provider-type': 'unknown',
  };
  expect((await setUp(api, attributes)).status).toBe(200);
});

const accountOf = async (token: string) => (await api.get('account/details', { token })).body.data;

let people = 0;
const newPerson = (): string => `person-${++people}`;

/** @returns the session's token */
const enter = async (...parameters: Parameters<SamlBrowser['enter']>): Promise<string> => {
  const { status, body } = await new SamlBrowser().enter(...parameters);
  expect(status).toBe(200);
  return body.access_token;
};

describe('sign-in with SAML', () => {
  it('creates a user at the first sign-in and finds it by the NameID at the next', async () => {
    const nameId = newPerson();
    const attributes = { Username: ['grace'], email: ['grace@example.test'] };
    const me = await accountOf(await enter(idp, { nameId, attributes }));
    expect(me.attributes).toMatchObject({ username: 'grace', email: '' });
    expect((await accountOf(await enter(idp, { nameId }))).id).toBe(me.id);
    expect((await accountOf(await enter(idp, { nameId: newPerson(), attributes }))).id).not.toBe(me.id);
  });

  it('sends the browser with a request that names recipient and issuer, and a cookie for posted forms', async () => {
    const browser = new SamlBrowser();
    const began = await browser.open(
      `/users/saml/sign-in?${new URLSearchParams({ client_id: 'page', code_challenge: browser.challenge, code_challenge_method: 'S256' })}`,
    );
    expect(began.status).toBe(302);
    expect(began.location).toMatch(/^https:\/\/idp\.example\.test\/sso\?tenant=1&SAMLRequest=/);
    expect(began.cookies).toEqual([
      expect.stringMatching(/^__Host-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=None; Secure$/),
    ]);
    const { id, xml } = requestIn(began.location);
    expect(xml).toContain('AssertionConsumerServiceURL="https://api.example.test/users/saml/auth"');
    expect(xml).toContain('<saml:Issuer>https://api.example.test/users/saml/metadata</saml:Issuer>');
    const departure = Buffer.from(/=([\w-]+)/.exec(began.cookies[0] ?? '')?.[1] ?? '', 'base64url').toString();
    expect(departure).not.toContain(id.slice(1));
  });

  it('returns the code in the fragment, bound to the verifier of the tab that began', async () => {
    const browser = new SamlBrowser();
    const { id } = await browser.depart();
    const came = await browser.post(goodResponse({ requestId: id, nameId: newPerson() }, idp));
    expect(came).toMatchObject({ status: 303, cookies: [expect.stringMatching(/^__Host-sign-in=; .*Max-Age=0/)] });
    expect(came.location).toMatch(/^\.\.\/\.\.\/app#code=[\w-]{43}$/);
    const thief = await new SamlBrowser().exchange(codeIn(came.location));
    expect(thief).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('ends the session when the session at the identity provider ends', async () => {
    const { body } = await new SamlBrowser().enter(idp, { nameId: newPerson(), sessionUntil: 600 });
    expect(body.expires_in).toBeLessThanOrEqual(600);
    expect(body.expires_in).toBeGreaterThan(500);
  });

  it('is offered by terraform login, which asks before it issues a token', async () => {
    const browser = new SamlBrowser();
    const terraform = {
      client_id: 'terraform-cli',
      response_type: 'code',
      redirect_uri: 'http://localhost:10004/login',
      state: '22a8973a',
      code_challenge: browser.challenge,
      code_challenge_method: 'S256',
    };
    const page = await browser.open(`/oauth/authorization?${new URLSearchParams(terraform)}`);
    const [, path = '', name] = /href="\.\.(\/users\/saml\/[^"]+)">Sign in with ([^<]+)</.exec(page.text) ?? [];
    expect(name).toBe('idp.example.test');
    const { location } = await browser.open(path.replaceAll('&amp;', '&'));
    const consent = await browser.post(goodResponse({ requestId: requestIn(location).id }, idp));
    expect(consent).toMatchObject({ status: 200, location: '' });
    const [, allow = ''] = /href="(http:[^"]+)"/.exec(consent.text) ?? [];
    const { searchParams } = new URL(allow.replaceAll('&amp;', '&'));
    expect(searchParams.get('state')).toBe(terraform.state);
    const code = searchParams.get('code') ?? '';
    expect((await browser.exchange(code, { redirectUri: terraform.redirect_uri })).status).toBe(200);
  });

  it('signs requests if configured', async () => {
    const attributes = { 'authn-requests-signed': true, certificate: own.certificate, 'private-key': own.key };
    expect((await setUp(api, attributes)).status).toBe(200);
    const { location } = await new SamlBrowser().depart();
    const [, text = ''] = /(SAMLRequest=.*)&Signature=/.exec(location) ?? [];
    const signature = new URL(location).searchParams.get('Signature') ?? '';
    const verifier = createVerify('sha256').update(text);
    expect(verifier.verify(own.certificate, signature, 'base64')).toBe(true);
  });

  it('accepts the former certificate of the identity provider until it is revoked', async () => {
    const next = await newKeys();
    await setUp(api, { 'idp-cert': next.certificate });
    await enter(idp, { nameId: newPerson() });
    await enter(next, { nameId: newPerson() });
    const revoked = await api.call('POST', 'admin/saml-settings/actions/revoke-old-certificate');
    expect(revoked.body.data.attributes).toMatchObject({ 'old-idp-cert': null, 'idp-cert': next.certificate });
    await expect(new SamlBrowser().enter(idp, { nameId: newPerson() })).rejects.toThrow('does not match a certificate');
  });

  it('connects the identity to a signed-in user', async () => {
    const nameId = newPerson();
    expect((await accountOf(await enter(idp, { nameId }, api.token))).id).toBe(api.userId);
    expect((await accountOf(await enter(idp, { nameId }))).id).toBe(api.userId);
    const { data } = (await api.get('account/identities')).body;
    const [identity] = data.filter((one: { attributes: { subject: string } }) => one.attributes.subject === nameId);
    expect(identity.attributes.issuer).toBe(`saml:${entityId}`);
  });
});

describe('an e-mail address in SAML', () => {
  const invite = async (email: string) =>
    (await api.post('organizations/acme/organization-memberships', { email }, { teams: { data: [] } })).body.data;

  it('does not accept the invitation of its owner, unless the operator trusts it', async () => {
    const [nameId, email] = [newPerson(), 'invited@example.test'];
    const invitation = await invite(email);
    const stranger = await accountOf(await enter(idp, { nameId, attributes: { email: [email] } }));
    expect(stranger.id).not.toBe(invitation.relationships.user.data.id);
    configureSaml({ trustEmails: true });
    const trusted = await accountOf(await enter(idp, { nameId: newPerson(), attributes: { email: [email] } }));
    expect(trusted.id).toBe(invitation.relationships.user.data.id);
  });

  it('of another domain than the allowed ones is refused', async () => {
    configureSaml({ trustEmails: true, emailDomains: ['example.test'] });
    const attributes = { email: ['ada@other.test'] };
    await expect(new SamlBrowser().enter(idp, { attributes })).rejects.toThrow(
      'yours at idp.example.test is ada@other.test',
    );
  });
});

describe('groups in SAML', () => {
  const teamOf = async (ssoTeamId: string) =>
    (await api.post('organizations/acme/teams', { name: uniqueName('crew'), 'sso-team-id': ssoTeamId })).body.data;
  const teamsOf = async (token: string): Promise<string[]> => {
    const { data = [] } = (await api.get('organizations/acme/teams', { token })).body;
    return data.map(({ id }: { id: string }) => id);
  };

  it('decide who is in teams with an sso-team-id, at each sign-in', async () => {
    const [a, b] = [await teamOf('group-a'), await teamOf('group-b')];
    const nameId = newPerson();
    const both = await enter(idp, { nameId, attributes: { MemberOf: ['group-a', 'group-b', 'elsewhere'] } });
    expect(await teamsOf(both)).toEqual(expect.arrayContaining([a.id, b.id]));
    const one = await teamsOf(await enter(idp, { nameId, attributes: { MemberOf: ['group-b'] } }));
    expect(one).toContain(b.id);
    expect(one).not.toContain(a.id);
    const none = await enter(idp, { nameId });
    expect((await api.get('organizations', { token: none })).body.data).toEqual([]);
  });

  it('are not split at commas, because anyone could name a group like that', async () => {
    await teamOf('group-c');
    const token = await enter(idp, { nameId: newPerson(), attributes: { MemberOf: ['mine,group-c'] } });
    expect((await api.get('organizations', { token })).body.data).toEqual([]);
  });

  it('have no effect without team management', async () => {
    await setUp(api, { 'team-management-enabled': false });
    await teamOf('group-d');
    const token = await enter(idp, { nameId: newPerson(), attributes: { MemberOf: ['group-d', 'site-admins'] } });
    expect((await api.get('organizations', { token })).body.data).toEqual([]);
    expect((await api.get('admin/saml-settings', { token })).status).toBe(404);
  });
});

describe('a site administrator', () => {
  const mayAdminister = async (token: string): Promise<boolean> =>
    (await api.get('admin/saml-settings', { token })).status === 200;

  it('is one by the attribute SiteAdmin, until a sign-in without it', async () => {
    const nameId = newPerson();
    expect(await mayAdminister(await enter(idp, { nameId }))).toBe(false);
    const token = await enter(idp, { nameId, attributes: { SiteAdmin: ['true'] } });
    expect(await mayAdminister(token)).toBe(true);
    expect((await api.get('admin/terraform-versions', { token })).status).toBe(200);
    await enter(idp, { nameId, attributes: { SiteAdmin: ['false'] } });
    expect(await mayAdminister(token)).toBe(false);
  });

  it('is one by a group, which SiteAdmin overrides', async () => {
    const nameId = newPerson();
    const attributes = { MemberOf: ['site-admins'] };
    expect(await mayAdminister(await enter(idp, { nameId, attributes }))).toBe(true);
    expect(await mayAdminister(await enter(idp, { nameId, attributes: { ...attributes, SiteAdmin: ['false'] } }))).toBe(
      false,
    );
  });

  it('has no rights any more when the operator takes SAML away', async () => {
    const token = await enter(idp, { nameId: newPerson(), attributes: { SiteAdmin: ['true'] } });
    process.env.ORGANIZATION_RULES = JSON.stringify({ creators: 'owners' });
    expect((await api.get('admin/terraform-versions', { token })).status).toBe(404);
  });
});

describe('API tokens of a user who signed in with SAML', () => {
  it('work for sso-api-token-session-timeout, and again after the next sign-in', async () => {
    const { update, get } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    await api.post('organizations/acme/teams', { name: uniqueName('crew'), 'sso-team-id': 'timed' });
    await setUp(api, { 'sso-api-token-session-timeout': 3600 });
    const [nameId, attributes] = [newPerson(), { MemberOf: ['timed'] }];
    const { id } = await accountOf(await enter(idp, { nameId, attributes }));
    const key = keys.membership(id, 'acme');
    const until = async () => Date.parse((await get<{ tokensUntil: string }>(key))?.tokensUntil ?? '') - Date.now();
    expect(await until()).toBeLessThanOrEqual(3_600_000);
    expect(await until()).toBeGreaterThan(3_500_000);
    await update(key, { set: { tokensUntil: new Date(0).toISOString() } });
    await enter(idp, { nameId, attributes });
    expect(await until()).toBeGreaterThan(3_500_000);
  });
});

describe('a response that no browser asked for', () => {
  it.each([
    ['app/acme', '../../app/acme'],
    ['/app/acme/workspaces/w', '../../app/acme/workspaces/w'],
    ['', '../../app'],
    ['https://evil.test', '../../app'],
    ['//evil.test/app', '../../app'],
    ['/app//evil.test', '../../app/evil.test'],
    ['/app/../../evil', '../../app'],
    ['/app/%2e%2e/%2E./x', '../../app'],
    ['/app\\evil.test', '../../app'],
    ['/app@evil.test', '../../app'],
    ['javascript:alert(1)', '../../app'],
    ['/app/x#code=1', '../../app'],
  ])('begins a sign-in of this platform, with RelayState %j', async (relayState, location) => {
    const response = goodResponse({ requestId: 'x' }, idp).replaceAll(' InResponseTo="x"', '');
    const came = await new SamlBrowser().post(response, { RelayState: relayState });
    expect(came).toMatchObject({ status: 303, location: `${location}#sign-in=%2Fusers%2Fsaml%2Fsign-in` });
  });

  it('does not sign in: it is not read beyond its root', async () => {
    const came = await new SamlBrowser().post('<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"/>');
    expect(came.location).not.toContain('code');
  });

  it('does not begin without end when an identity provider never names the request', async () => {
    const browser = new SamlBrowser();
    const { id } = await browser.depart();
    const came = await browser.post(goodResponse({ requestId: id }, idp).replaceAll(/ InResponseTo="[^"]+"/g, ''));
    expect(came).toMatchObject({ status: 502, text: expect.stringContaining('InResponseTo') });
  });
});

describe('without SAML', () => {
  it('there is no button, no sign-in, no metadata and no setting', async () => {
    process.env.ORGANIZATION_RULES = JSON.stringify({ creators: 'owners' });
    const browser = new SamlBrowser();
    expect(JSON.parse((await browser.open('/oauth/ways')).text)).toEqual({ ways: [] });
    for (const path of ['sign-in', 'metadata'])
      expect(await browser.open(`/users/saml/${path}`)).toMatchObject({ status: 403, location: '' });
    expect((await browser.post(goodResponse({ requestId: 'x' }, idp))).status).toBe(403);
    expect((await api.get('admin/saml-settings')).status).toBe(404);
  });

  it('there is no button while it is disabled, but the metadata to set it up with', async () => {
    await setUp(api, { enabled: false });
    const browser = new SamlBrowser();
    expect(JSON.parse((await browser.open('/oauth/ways')).text)).toEqual({ ways: [] });
    expect((await browser.open('/users/saml/sign-in')).status).toBe(403);
    expect((await browser.open('/users/saml/metadata')).text).toContain('https://api.example.test/users/saml/auth');
  });
});
