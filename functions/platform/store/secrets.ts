import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { callKms } from './aws.ts';
import { Cache } from './cache.ts';

/**
 * Envelope encryption of secrets in the table and in objects: each value has a KMS data key and is encrypted here with
 * AES-256-GCM, so that values can exceed KMS's limit of 4 KB. Each value is bound to its record twice, by KMS
 * encryption context (also in CloudTrail) and by additional authenticated data: a copy in another record cannot be
 * decrypted.
 */

/** Identity of the record, e.g. `{workspace: 'ws-…', variable: 'var-…'}`. Not secret. */
export type SecretContext = Record<string, string>;

const format = 1;
const ivBytes = 12;
const tagBytes = 16;

const additionalData = (context: SecretContext): Buffer =>
  Buffer.from(JSON.stringify(Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1))));

/**
 * A data key for a program without access to KMS, and its encrypted form that only {@link openDataKey} opens; both
 * base64. One KMS request.
 */
export const newDataKey = async (context: SecretContext): Promise<{ key: string; sealed: string }> => {
  const { CiphertextBlob, Plaintext } = await callKms<{ CiphertextBlob: string; Plaintext: string }>(
    'GenerateDataKey',
    { KeyId: environment.keyArn, KeySpec: 'AES_256', EncryptionContext: context },
  );
  return { key: Plaintext, sealed: CiphertextBlob };
};

/** One KMS request. */
export const openDataKey = async (sealed: string, context: SecretContext): Promise<Buffer> => {
  const { Plaintext } = await callKms<{ Plaintext: string }>('Decrypt', {
    CiphertextBlob: sealed,
    EncryptionContext: context,
  });
  return Buffer.from(Plaintext, 'base64');
};

/** Context of a state that a run's runner may have to keep (platform/formats/kept-state.ts). */
export const keptStateContext = (runId: string): SecretContext => ({ run: runId, what: 'kept state' });

/** One KMS request. Layout: format, length of the wrapped key (2 bytes), wrapped key, IV, tag, ciphertext. */
export const seal = async (plaintext: string, context: SecretContext): Promise<Uint8Array> => {
  const { key, sealed } = await newDataKey(context);
  const wrapped = Buffer.from(sealed, 'base64');
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key, 'base64'), iv);
  cipher.setAAD(additionalData(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  const header = Buffer.from([format, wrapped.length >> 8, wrapped.length & 0xff]);
  return Buffer.concat([header, wrapped, iv, cipher.getAuthTag(), ciphertext]);
};

/**
 * One KMS request.
 * @throws {Error} if the value was altered, or sealed for another record
 */
export const open = async (sealed: Uint8Array, context: SecretContext): Promise<string> => {
  const bytes = Buffer.from(sealed);
  if (bytes[0] !== format) throw new Error(`sealed value has unknown format ${bytes[0]}`);
  let at = 3;
  const next = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const wrapped = next(bytes.readUInt16BE(1));
  const iv = next(ivBytes);
  const tag = next(tagBytes);
  const { Plaintext } = await callKms<{ Plaintext: string }>('Decrypt', {
    KeyId: environment.keyArn,
    CiphertextBlob: wrapped.toString('base64'),
    EncryptionContext: context,
  });
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(Plaintext, 'base64'), iv);
  decipher.setAAD(additionalData(context));
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(bytes.subarray(at)), decipher.final()]).toString('utf8');
};

/** Recently opened secrets by record and sealed form. */
const recent = new Cache<string>({ maxWeight: 1000, keptMs: 5 * 60_000 });

/** {@link open} for secrets that many requests need: at most one KMS request in five minutes. */
export const openCached = async (sealed: Uint8Array, context: SecretContext): Promise<string> => {
  const key = `${additionalData(context)} ${Buffer.from(sealed).toString('base64')}`;
  const known = recent.get(key);
  if (known !== undefined) return known;
  const secret = await open(sealed, context);
  recent.set(key, secret);
  return secret;
};
