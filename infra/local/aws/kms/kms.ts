import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { AwsError } from '#infra/local/host/errors.ts';
import type { Resource } from '#infra/local/host/template.ts';
import { keptSecret } from '../ssm/secrets.ts';
import { isSigning, type KeyProperties, SigningKeys } from './kms-signing.ts';

type Input = Record<string, unknown>;

const version = 1;
const ivBytes = 12;
const tagBytes = 16;

/**
 * KMS. Symmetric keys: AES-256-GCM under keys derived from one random secret in a file that only its owner can read;
 * the encryption context is authenticated with the ciphertext, as on AWS. Without the file, encrypted data is lost.
 * Signing keys have files of their own beside it.
 */
export class Kms {
  readonly #master: Buffer;
  readonly #keys: Set<string>;
  readonly #signing: SigningKeys;

  /** @param keys the template's keys; there are no others */
  constructor(file: string, keys: Pick<Resource<KeyProperties>, 'arn' | 'properties'>[]) {
    this.#master = keptSecret(file);
    this.#keys = new Set(keys.map(({ arn }) => arn));
    this.#signing = new SigningKeys(file, new Set(keys.filter(isSigning).map(({ arn }) => arn)));
  }

  async handle(action: string, input: Input): Promise<Input> {
    this.#signing.check(action, this.keyOf(input));
    switch (action) {
      case 'Sign':
        return this.#signing.sign(this.arnOf(input.KeyId), input);
      case 'GetPublicKey':
        return this.#signing.publicKey(this.arnOf(input.KeyId));
      case 'GenerateDataKey': {
        const arn = this.arnOf(input.KeyId);
        const bytes = Number(input.NumberOfBytes ?? (input.KeySpec === 'AES_128' ? 16 : 32));
        const key = randomBytes(bytes);
        return {
          KeyId: arn,
          Plaintext: key.toString('base64'),
          CiphertextBlob: this.#seal(arn, key, input).toString('base64'),
        };
      }
      case 'Encrypt': {
        const arn = this.arnOf(input.KeyId);
        const plaintext = Buffer.from(String(input.Plaintext), 'base64');
        if (plaintext.length > 4096)
          throw new AwsError('ValidationException', 'Plaintext must have a length of at most 4096 bytes');
        return {
          KeyId: arn,
          EncryptionAlgorithm: 'SYMMETRIC_DEFAULT',
          CiphertextBlob: this.#seal(arn, plaintext, input).toString('base64'),
        };
      }
      case 'Decrypt': {
        const { arn, open } = this.#parse(input);
        if (input.KeyId !== undefined && this.arnOf(input.KeyId) !== arn)
          throw new AwsError('IncorrectKeyException', 'The key ID in the request does not identify the CMK.');
        return { KeyId: arn, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT', Plaintext: open().toString('base64') };
      }
      default:
        throw new AwsError('UnknownOperationException', `the local KMS does not support ${action}`);
    }
  }

  /** ARN of the key that a call uses, for the permission check. A ciphertext contains the ARN of its key. */
  keyOf(input: Input): string {
    return input.KeyId === undefined && input.CiphertextBlob !== undefined
      ? this.#parse(input).arn
      : this.arnOf(input.KeyId);
  }

  /** By ARN or key id. */
  arnOf(id: unknown): string {
    for (const arn of this.#keys) if (arn === id || arn.endsWith(`/${String(id)}`)) return arn;
    throw new AwsError('NotFoundException', `Key '${String(id)}' does not exist`);
  }

  /** version (1) · length of the ARN (1) · ARN · initialization vector (12) · tag (16) · ciphertext */
  #seal(arn: string, plaintext: Buffer, input: Input): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#derive(arn), iv).setAAD(context(input));
    const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    const name = Buffer.from(arn);
    return Buffer.concat([Buffer.from([version, name.length]), name, iv, cipher.getAuthTag(), sealed]);
  }

  #parse(input: Input): { arn: string; open: () => Buffer } {
    const blob = Buffer.from(String(input.CiphertextBlob ?? ''), 'base64');
    const start = 2 + (blob[1] ?? 0);
    const arn = blob.subarray(2, start).toString();
    if (blob[0] !== version || blob.length < start + ivBytes + tagBytes || !this.#keys.has(arn)) throw invalid();
    const open = () => {
      const tag = blob.subarray(start + ivBytes, start + ivBytes + tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', this.#derive(arn), blob.subarray(start, start + ivBytes))
        .setAuthTag(tag)
        .setAAD(context(input));
      try {
        return Buffer.concat([decipher.update(blob.subarray(start + ivBytes + tagBytes)), decipher.final()]);
      } catch {
        throw invalid();
      }
    };
    return { arn, open };
  }

  #derive(arn: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#master, '', arn, 32));
  }
}

/** AWS names no reason either, so that a caller cannot learn by trying. */
const invalid = () => new AwsError('InvalidCiphertextException', '');

const context = ({ EncryptionContext = {} }: { EncryptionContext?: unknown }): Buffer =>
  Buffer.from(
    JSON.stringify(Object.entries(EncryptionContext as Record<string, string>).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
