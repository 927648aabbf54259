import { createHash, createPublicKey, verify } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Kms } from '#infra/local/aws/kms/kms.ts';
import { temporaryFolder } from './support/functions.ts';

const arn = (name: string) => `arn:aws:kms:us-east-1:000000000000:key/${name}`;
const keys = [
  { arn: arn('seals'), properties: {} },
  { arn: arn('signs'), properties: { KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' } },
];

const order = (text: string, more = {}) => ({
  KeyId: arn('signs'),
  MessageType: 'DIGEST',
  Message: createHash('sha256').update(text).digest('base64'),
  SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
  ...more,
});

it('the public key verifies signatures, also after a restart', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'kms.key');
  const { Signature } = await new Kms(file, keys).handle('Sign', order('hello'));
  const { PublicKey } = await new Kms(file, keys).handle('GetPublicKey', { KeyId: arn('signs') });
  const key = createPublicKey({ key: Buffer.from(String(PublicKey), 'base64'), format: 'der', type: 'spki' });
  const signature = Buffer.from(String(Signature), 'base64');
  expect(verify('RSA-SHA256', Buffer.from('hello'), key, signature)).toBe(true);
  expect(verify('RSA-SHA256', Buffer.from('hallo'), key, signature)).toBe(false);
  expect(readdirSync(folder).sort()).toEqual(['kms.key', 'kms.key.signs.pem']);
  expect(statSync(join(folder, 'kms.key.signs.pem')).mode & 0o777).toBe(0o600);
});

it('a key rejects calls that its key usage does not allow', async () => {
  const kms = new Kms(join(temporaryFolder(), 'kms.key'), keys);
  for (const [action, KeyId] of [
    ['Sign', arn('seals')],
    ['GetPublicKey', arn('seals')],
    ['GenerateDataKey', arn('signs')],
  ] as const)
    await expect(kms.handle(action, order('x', { KeyId }))).rejects.toThrow('key usage is not for');
  await expect(kms.handle('Sign', order('x', { MessageType: 'RAW' }))).rejects.toThrow('SHA-256 digests');
});
