import { beforeEach, describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { startIssuer } from '#test/support/issuer.ts';
import { Browser, callback, codeIn, configure } from './support.ts';

/** Sign-in at a real provider. */

const api = await startApi();
const issuer = await startIssuer();
issuer.trust(callback);

const ada = { sub: 'ada-1', email: 'Ada@Example.test', email_verified: true, preferred_username: 'ada' };
beforeEach(() => {
  issuer.account = ada;
  configure({}, issuer);
});

const accountOf = async (token: string) => (await api.get('account/details', { token })).body.data;
const terraform = {
  client_id: 'terraform-cli',
  response_type: 'code',
  redirect_uri: 'http://localhost:10004/login',
  state: '22a8973a',
};

describe('sign-in to the web page', () => {
  it('creates a user at the first sign-in and reuses it at the next', async () => {
    const { status, body } = await new Browser().signIn(issuer);
    expect({ status, body }).toMatchObject({ status: 200, body: { token_type: 'bearer' } });
    const me = await accountOf(body.access_token);
    expect(me.attributes).toMatchObject({ username: 'ada', email: 'ada@example.test' });
    const again = await new Browser().signIn(issuer);
    expect(again.body.access_token).not.toBe(body.access_token);
    expect((await accountOf(again.body.access_token)).id).toBe(me.id);
    issuer.account = { ...ada, sub: 'ada-2' };
    const other = await new Browser().signIn(issuer);
    expect((await accountOf(other.body.access_token)).id).not.toBe(me.id);
  });

  it('redirects to the issuer with state, nonce and challenge, and no secret', async () => {
    const browser = new Browser();
    const began = await browser.begin();
    expect(began.status).toBe(302);
    const { origin, searchParams } = new URL(began.location);
    expect(origin).toBe(issuer.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: issuer.clientId,
      redirect_uri: callback,
      code_challenge_method: 'S256',
    });
    expect(began.location).not.toContain(browser.challenge);
    const [cookie = ''] = began.cookies;
    expect(cookie).toMatch(/^__Host-sign-in=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
    const unguessable = ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name));
    expect(new Set(unguessable).size).toBe(3);
    const departure = Buffer.from(/=([\w-]+)/.exec(cookie)?.[1] ?? '', 'base64url').toString();
    for (const value of unguessable) {
      expect(value).toMatch(/^[\w-]{43}$/);
      expect(departure).not.toContain(value);
    }
  });

  it.each(['https://tools.example.test', 'https://tools.example.test/its/stepform'])(
    "works at %s, an address other than the API's",
    async (baseUrl) => {
      configure({ baseUrl }, issuer);
      issuer.trust(`${baseUrl}/oauth/callback`);
      const browser = new Browser();
      const at = await issuer.visit((await browser.begin()).location);
      expect(`${at.origin}${at.pathname}`).toBe(`${baseUrl}/oauth/callback`);
      // The proxy in front of the functions removes its path.
      const came = await browser.come(new URL(`/oauth/callback${at.search}`, at));
      expect(new URL(came.location, at).href).toMatch(`${baseUrl}/app#code=`);
      expect((await browser.exchange(codeIn(came.location))).status).toBe(200);
      issuer.trust(callback);
    },
  );

  it("sets the Secure cookie flag by the browser's scheme", async () => {
    configure({ baseUrl: 'http://localhost:8081/tools' }, issuer);
    expect((await new Browser().begin()).cookies).toEqual([expect.stringMatching(/^sign-in=.*SameSite=Lax$/)]);
  });

  it('returns the code in the fragment, bound to the verifier, and clears the cookie', async () => {
    const browser = new Browser();
    const came = await browser.come(await issuer.visit((await browser.begin()).location));
    expect(came).toMatchObject({ status: 303, cookies: [expect.stringMatching(/^__Host-sign-in=; .*Max-Age=0/)] });
    expect(came.location).toMatch(/^\.\.\/app#code=[\w-]{43}$/);
    const thief = await new Browser().exchange(codeIn(came.location));
    expect(thief).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await browser.exchange(codeIn(came.location))).status).toBe(400);
  });

  it('connects the identity to a signed-in user', async () => {
    issuer.account = { ...ada, sub: 'owner-at-issuer' };
    const { status, body } = await new Browser().signIn(issuer, api.token);
    expect(status).toBe(200);
    const own = await accountOf(body.access_token);
    expect([own.id, own.attributes.email], 'keeps its own address').toEqual([api.userId, 'owner@acme.test']);
    const later = await new Browser().signIn(issuer);
    expect((await accountOf(later.body.access_token)).id).toBe(api.userId);
    issuer.account = { ...ada, sub: 'another-user' };
    await new Browser().signIn(issuer);
    const taken = await new Browser().signIn(issuer, api.token);
    expect(taken).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('gives a user without an address the verified one of another identity', async () => {
    issuer.account = { sub: 'bare' };
    const { body } = await new Browser().signIn(issuer);
    for (const verified of [false, true]) {
      issuer.account = { sub: `at-${verified}`, email: 'bare@example.test', email_verified: verified };
      await new Browser().signIn(issuer, body.access_token);
      const { email } = (await accountOf(body.access_token)).attributes;
      expect([verified, email]).toEqual([verified, verified ? 'bare@example.test' : '']);
    }
  });
});

describe('terraform login', () => {
  it('offers single sign-on and asks before it issues a token', async () => {
    const browser = new Browser();
    const parameters = new URLSearchParams({
      ...terraform,
      code_challenge: browser.challenge,
      code_challenge_method: 'S256',
    });
    const page = await browser.open(`/oauth/authorization?${parameters}`);
    expect(page.text).toContain('Sign in with Example');
    const [, href = ''] = /href="\.\.(\/oauth\/sign-in\?[^"]+)"/.exec(page.text) ?? [];
    const began = await browser.open(href.replaceAll('&amp;', '&'));
    const consent = await browser.come(await issuer.visit(began.location));
    expect(consent).toMatchObject({ status: 200, location: '' });
    expect(consent.text).toContain('<strong>ada@example.test</strong>');
    const [, allow = ''] = /href="(http:[^"]+)"/.exec(consent.text) ?? [];
    const { origin, pathname, searchParams } = new URL(allow.replaceAll('&amp;', '&'));
    expect(`${origin}${pathname}`).toBe(terraform.redirect_uri);
    expect(searchParams.get('state')).toBe(terraform.state);
    const { status, body } = await browser.exchange(searchParams.get('code') ?? '', {
      redirectUri: terraform.redirect_uri,
    });
    expect(status).toBe(200);
    const me = await accountOf(body.access_token);
    const tokens = await api.get(`users/${me.id}/authentication-tokens`, { token: body.access_token });
    expect(
      tokens.body.data.map((one: { attributes: { description: string } }) => one.attributes.description),
    ).toContain('terraform login');
  });

  it('redirects only to Terraform on this computer', async () => {
    const began = await new Browser().begin({ ...terraform, redirect_uri: 'https://evil.test/login' });
    expect(began).toMatchObject({ status: 400, location: '' });
  });
});

describe('sign-in is rejected', () => {
  const refused = async (browser: Browser, at: URL) => {
    const came = await browser.come(at);
    expect(came.location).toBe('');
    return came;
  };

  it('in another browser than the one that began it, or twice', async () => {
    const browser = new Browser();
    const at = await issuer.visit((await browser.begin()).location);
    expect(await refused(new Browser(), at)).toMatchObject({
      status: 400,
      text: expect.stringContaining('started in another browser'),
    });
    const victim = new Browser();
    await victim.begin();
    expect((await refused(victim, at)).status).toBe(400);
    const firstCookie = browser.cookie;
    expect((await browser.come(at)).status).toBe(303);
    expect((await refused(browser, at)).text).toContain('started in another browser');
    browser.cookie = firstCookie;
    expect(await refused(browser, at)).toMatchObject({
      status: 400,
      text: expect.stringContaining('was already used'),
    });
  });

  it('for a response of another issuer or without an issuer', async () => {
    for (const iss of ['https://other.test', undefined]) {
      const browser = new Browser();
      const at = await issuer.visit((await browser.begin()).location);
      at.searchParams.delete('iss');
      if (iss) at.searchParams.set('iss', iss);
      expect(await refused(browser, at)).toMatchObject({
        status: 502,
        text: expect.stringContaining('was rejected'),
      });
    }
  });

  it('when the user cancels at the issuer', async () => {
    issuer.account = undefined;
    const browser = new Browser();
    const came = await refused(browser, await issuer.visit((await browser.begin()).location));
    expect(came).toMatchObject({ status: 403, text: expect.stringContaining('Example denied access') });
  });

  it.each([
    ['an address elsewhere', { ...ada, email: 'ada@other.test' }, 'yours at Example is ada@other.test'],
    ['an address that only ends so', { ...ada, email: 'ada@notexample.test' }, 'ada@notexample.test'],
    ['an unverified address', { ...ada, email_verified: false }, 'ada@example.test is not verified'],
    ['no address', { sub: 'no-address' }, 'did not send your address'],
    ['an empty address', { sub: 'no-address', email: '' }, 'did not send your address'],
  ])('with %s where the operator names domains', async (_, account, words) => {
    configure({ emailDomains: ['example.test'] }, issuer);
    issuer.account = account;
    const browser = new Browser();
    const came = await refused(browser, await issuer.visit((await browser.begin()).location));
    expect(came).toMatchObject({ status: 403, text: expect.stringContaining(words) });
  });

  it("when the issuer rejects the platform's client credentials", async () => {
    configure({ clientSecret: 'wrong' }, issuer);
    const browser = new Browser();
    const came = await refused(browser, await issuer.visit((await browser.begin()).location));
    expect(came).toMatchObject({ status: 502, text: expect.stringContaining('rejected this platform') });
    expect(came.text).not.toContain('wrong');
  });

  it('with a message when no issuer is configured', async () => {
    configure(undefined, issuer);
    expect((await new Browser().begin()).text).toContain('Single sign-on is not configured');
    expect(JSON.parse((await new Browser().open('/oauth/ways')).text)).toEqual({ ways: [] });
    configure({}, issuer);
    expect(JSON.parse((await new Browser().open('/oauth/ways')).text)).toEqual({
      ways: [{ name: 'Example', path: '/oauth/sign-in' }],
    });
  });
});
