import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { startApi } from '#test/support/api.ts';
import { serve } from '#test/support/serve.ts';
import { Browser, configure } from './support.ts';

/** Responses of a faulty or forged issuer, which no well-behaved provider sends. */

type Document = Record<string, unknown>;

const ours = generateKeyPairSync('rsa', { modulusLength: 2048 });
const theirs = generateKeyPairSync('rsa', { modulusLength: 2048 });

const part = (document: Document) => Buffer.from(JSON.stringify(document)).toString('base64url');
const signed = (
  claims: Document,
  key: KeyObject = ours.privateKey,
  header: Document = { alg: 'RS256', kid: 'k1' },
): string => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
};

let url: string;
/** Responses by path: a document, or a status. */
let answers: Record<string, Document | number>;
let paths: string[];
let published: { publicKey: KeyObject };

let path = 0;
await startApi();
const server = await serve((request, response) => {
  const path = request.url ?? '/';
  paths.push(path);
  const answer = answers[path];
  if (typeof answer === 'number' || !answer) return response.writeHead(answer ?? 404).end('<html>');
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
beforeEach(() => {
  // A new issuer per test, because functions cache an issuer's metadata.
  url = `${server.url}/${++path}`;
  paths = [];
  published = ours;
  const at = (name: string) => `${url}/${name}`;
  const metadata = {
    issuer: url,
    authorization_endpoint: at('authorize'),
    token_endpoint: at('token'),
    jwks_uri: at('jwks'),
  };
  answers = { [`/${path}/.well-known/openid-configuration`]: metadata };
  configure({}, { url, clientId: 'stepform', clientSecret: 's' } as never);
});

const now = () => Math.floor(Date.now() / 1000);

/** Returns from the issuer with an ID token. @returns the platform's response */
const come = async (change: Document | ((claims: Document) => string) = {}) => {
  const browser = new Browser();
  const began = new URL((await browser.begin()).location);
  const { nonce = '', state = '' } = Object.fromEntries(began.searchParams);
  const claims: Document = {
    iss: url,
    sub: 's-1',
    aud: 'stepform',
    nonce,
    iat: now(),
    exp: now() + 300,
    email: 'a@b.test',
    email_verified: true,
  };
  const idToken = typeof change === 'function' ? change(claims) : signed({ ...claims, ...change });
  const jwk = published.publicKey.export({ format: 'jwk' });
  answers[`/${path}/jwks`] ??= { keys: [{ ...jwk, kid: 'k1', use: 'sig', alg: 'RS256' }] };
  answers[`/${path}/token`] ??= { access_token: 'a', token_type: 'Bearer', id_token: idToken };
  const came = await browser.come(new URL(`https://api.example.test/oauth/callback?code=c&state=${state}`));
  return { ...came, location: came.location.replace(/code=.*/, '') };
};

const letIn = { status: 303, location: '../app#' };
const turnedAway = (words: string) => ({ status: 502, location: '', text: expect.stringContaining(words) });

it('signs in the user of a valid response', async () => {
  expect(await come()).toMatchObject(letIn);
});

describe('an ID token', () => {
  it.each([
    ['of another issuer', { iss: 'https://other.test' }, 'comes from another issuer'],
    ['for another platform', { aud: 'another-client' }, 'for another platform or sign-in'],
    ['for others as well', { aud: ['stepform', 'another-client'] }, 'for another platform or sign-in'],
    ['of another sign-in', { nonce: 'another' }, 'another platform or sign-in'],
    ['that is too old', { exp: now() - 120 }, 'too old'],
    ['that is not yet good', { nbf: now() + 120 }, 'clock'],
    ['without a subject', { sub: undefined }, 'sub'],
    ['without an end', { exp: undefined }, 'exp'],
  ])('%s is rejected', async (_, change, words) => {
    expect(await come(change)).toMatchObject(turnedAway(words));
  });

  it('is accepted with a clock difference below a minute', async () => {
    expect(await come({ exp: now() - 30, nbf: now() + 30 })).toMatchObject(letIn);
  });

  it.each<[string, (claims: Document) => string]>([
    ["signed with another issuer's key", (claims) => signed(claims, theirs.privateKey)],
    [
      'signed with a key that is not published',
      (claims) => signed(claims, theirs.privateKey, { alg: 'RS256', kid: 'k2' }),
    ],
    ['without a signature', (claims) => `${part({ alg: 'none' })}.${part(claims)}.`],
    [
      'signed with the public key as if it were a secret',
      (claims) => {
        const text = `${part({ alg: 'HS256', kid: 'k1' })}.${part(claims)}`;
        const secret = ours.publicKey.export({ type: 'spki', format: 'pem' });
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
    ],
    [
      'whose claims were changed',
      (claims) => signed(claims).replace(/\.[^.]+\./, `.${part({ ...claims, sub: 'root' })}.`),
    ],
  ])('%s is rejected', async (_, make) => {
    expect(await come(make)).toMatchObject(turnedAway('was rejected'));
  });

  it('without a subject, or a missing one, is rejected', async () => {
    expect((await come({ aud: 5 })).status).toBe(502);
    answers[`/${path}/token`] = { access_token: 'a', token_type: 'Bearer' };
    expect((await come()).status).toBe(502);
  });
});

describe('keys', () => {
  it("are read once, like the issuer's metadata", async () => {
    const jwks = () => paths.filter((one) => one.endsWith('/jwks')).length;
    expect(await come()).toMatchObject(letIn);
    delete answers[`/${path}/token`];
    expect(await come()).toMatchObject(letIn);
    expect(jwks()).toBe(1);
    expect(paths.filter((one) => one.endsWith('openid-configuration'))).toHaveLength(1);
  });
});

describe('an issuer', () => {
  it.each([
    ['fails', 500],
    ['is elsewhere', 404],
    ['calls itself otherwise', { issuer: 'https://other.test', authorization_endpoint: 'https://other.test/a' }],
  ])('that %s is rejected', async (_, answer) => {
    answers[`/${path}/.well-known/openid-configuration`] = answer as Document;
    expect(await new Browser().begin()).toMatchObject(turnedAway('does not respond like an OpenID Connect issuer'));
  });

  it('that is down is reported, with API tokens as the alternative', async () => {
    configure({ issuer: 'http://127.0.0.1:1' }, { url, clientId: 'stepform', clientSecret: 's' } as never);
    const refusal = await new Browser().begin();
    expect(refusal).toMatchObject(turnedAway('http://127.0.0.1:1) cannot be reached: the connection was refused'));
    expect(refusal.text).toContain('sign in with an API token');
  });

  it('at a private address is called only if the operator allows it', async () => {
    process.env.OUTBOUND_ALLOWED_CIDRS = '';
    expect(await new Browser().begin()).toMatchObject(turnedAway('reserved address'));
    expect(paths).toEqual([]);
  });

  it('on another machine is never called without TLS', async () => {
    configure({ issuer: 'http://192.0.2.1' }, { url, clientId: 'stepform', clientSecret: 's' } as never);
    process.env.OUTBOUND_ALLOWED_CIDRS = '0.0.0.0/0';
    expect(await new Browser().begin()).toMatchObject(turnedAway('only requests to HTTPS are allowed'));
  });

  it('with an oversized response is not read to the end', async () => {
    answers[`/${path}/.well-known/openid-configuration`] = { issuer: url, padding: 'x'.repeat(2_000_000) };
    expect((await new Browser().begin()).status).toBe(502);
  });
});
