import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { verifyIdentity } from '#infra/deployment/verify/identity.ts';
import { claimNames, claimsOf } from '#runner/identity/claims.ts';
import { handler } from '#runner/identity/handler.ts';
import { signToken } from '#runner/identity/sign.ts';
import { type Storage, startStorage } from '#test/support/storage.ts';

const issuer = 'https://tf.example.test';
const audience = 'aws.workload.identity';

let storage: Storage;
let arns: string[];
beforeAll(async () => {
  storage = await startStorage();
  process.env.PUBLIC_URL = issuer;
  arns = (process.env.IDENTITY_KEY_ARNS as string).split(',');
});
beforeEach(() => {
  process.env.IDENTITY_KEY_ARNS = arns.join(',');
});
afterAll(() => storage.close());

const workload = {
  organization: { id: 'org-1', name: 'acme' },
  project: { id: 'prj-1', name: 'Default Project' },
  workspace: { id: 'ws-1', name: 'network' },
  runId: 'run-1',
  phase: 'apply' as const,
};
const claims = () =>
  claimsOf(workload, { issuer, audience, id: 'jti-1', now: Math.floor(Date.now() / 1000), lifetimeSeconds: 60 });

const answerTo = (url: string) => handler({ rawPath: new URL(url).pathname } as APIGatewayProxyEventV2);
const read = async (url: string) => JSON.parse((await answerTo(url)).body ?? '') as Record<string, unknown>;
const verified = (token: string, more = {}) => verifyIdentity(token, { issuer, audience, read, ...more });

it('tokens verify with the published discovery document and keys', async () => {
  const token = await signToken(claims());
  expect(await verified(token)).toEqual({
    jti: 'jti-1',
    iss: issuer,
    aud: audience,
    iat: expect.any(Number),
    nbf: expect.any(Number),
    exp: expect.any(Number),
    sub: 'organization:acme:project:Default Project:workspace:network:run_phase:apply',
    terraform_organization_id: 'org-1',
    terraform_organization_name: 'acme',
    terraform_project_id: 'prj-1',
    terraform_project_name: 'Default Project',
    terraform_workspace_id: 'ws-1',
    terraform_workspace_name: 'network',
    terraform_full_workspace: 'organization:acme:project:Default Project:workspace:network',
    terraform_run_id: 'run-1',
    terraform_run_phase: 'apply',
  });
  expect(Object.keys(await verified(token)).sort()).toEqual([...claimNames].sort());
});

it('a modified token, or one for another audience, is rejected', async () => {
  const token = await signToken(claims());
  const [head = '', body = '', signature = ''] = token.split('.');
  const other = Buffer.from(JSON.stringify({ ...claims(), sub: 'organization:other' })).toString('base64url');
  await expect(verified(`${head}.${other}.${signature}`)).rejects.toThrow('signature');
  await expect(verified(`${head}.${body}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`)).rejects.toThrow(
    'signature',
  );
  await expect(verified(token, { audience: 'vault.workload.identity' })).rejects.toThrow('it is for');
  const { exp, ...rest } = claims();
  const expired = await signToken({ ...rest, exp: Number(exp) - 61 });
  await expect(verified(expired)).rejects.toThrow('not valid now');
});

it('a token costs one request to KMS', async () => {
  const before = storage.calls.length;
  await signToken(claims());
  expect(storage.calls.slice(before)).toEqual(['kms Sign']);
});

it('keys can be rotated while tokens are in use', async () => {
  const [first = '', second = ''] = arns;
  process.env.IDENTITY_KEY_ARNS = first;
  const old = await signToken(claims());
  process.env.IDENTITY_KEY_ARNS = `${first},${second}`;
  const published = await read(`${issuer}/.well-known/jwks`);
  process.env.IDENTITY_KEY_ARNS = `${second},${first}`;
  const fresh = await signToken(claims());
  expect(await verified(old)).toMatchObject({ jti: 'jti-1' });
  // Verifiers may also have cached the keys before the change.
  const cached = (url: string) => (url.endsWith('/jwks') ? Promise.resolve(published) : read(url));
  expect(await verified(fresh, { read: cached })).toMatchObject({ jti: 'jti-1' });
  process.env.IDENTITY_KEY_ARNS = second;
  expect(await verified(fresh)).toMatchObject({ jti: 'jti-1' });
  await expect(verified(old)).rejects.toThrow('no key');
});

it('the key set contains only public keys, and is cacheable for a while', async () => {
  const { statusCode, headers, body = '' } = await answerTo(`${issuer}/.well-known/jwks`);
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({ 'cache-control': 'public, max-age=900', 'content-type': 'application/json' });
  const { keys } = JSON.parse(body) as { keys: object[] };
  expect(keys.map((key) => Object.keys(key).sort())).toEqual([
    ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ['alg', 'e', 'kid', 'kty', 'n', 'use'],
  ]);
  expect((await answerTo(`${issuer}/.well-known/__proto__`)).statusCode).toBe(404);
});

it('a response without keys is not cacheable', async () => {
  process.env.IDENTITY_KEY_ARNS = 'arn:aws:kms:us-east-1:000000000000:key/gone';
  const { statusCode, headers } = await answerTo(`${issuer}/.well-known/jwks`);
  expect([statusCode, headers?.['cache-control']]).toEqual([503, 'no-store']);
});
