import { constants, createPublicKey, generateKeyPair, privateEncrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { AwsError } from '#infra/local/host/errors.ts';
import { writePrivately } from '../ssm/secrets.ts';

type Input = Record<string, unknown>;

export interface KeyProperties {
  KeySpec?: string;
  KeyUsage?: string;
}

export const isSigning = ({ properties }: { properties: KeyProperties }): boolean =>
  properties.KeyUsage === 'SIGN_VERIFY';

const algorithm = 'RSASSA_PKCS1_V1_5_SHA_256';
const digestBytes = 32;
/** DER of a SHA-256 DigestInfo, without the digest itself (RFC 8017 §9.2). */
const digestInfo = Buffer.from('3031300d060960864801650304020105000420', 'hex');

const generate = promisify(generateKeyPair);

/** KMS for signing RSA keys of 2048 bits: created on first use, each in a file that only its owner can read. */
export class SigningKeys {
  readonly #file: string;
  readonly #arns: ReadonlySet<string>;
  readonly #known = new Map<string, Promise<string>>();

  /** @param file prefix of the key files' names */
  constructor(file: string, arns: ReadonlySet<string>) {
    this.#file = file;
    this.#arns = arns;
  }

  /**
   * A key either encrypts or signs (KMS: key usage).
   * @throws AwsError
   */
  check(action: string, arn: string): void {
    if (this.#arns.has(arn) === /^(Sign|GetPublicKey)$/.test(action)) return;
    throw new AwsError('InvalidKeyUsageException', `${arn} key usage is not for ${action}.`);
  }

  async sign(arn: string, { Message, MessageType, SigningAlgorithm }: Input): Promise<Input> {
    const digest = Buffer.from(String(Message), 'base64');
    if (SigningAlgorithm !== algorithm || MessageType !== 'DIGEST' || digest.length !== digestBytes) {
      throw new AwsError('ValidationException', `the local KMS signs SHA-256 digests by ${algorithm} only`);
    }
    const key = { key: await this.#pem(arn), padding: constants.RSA_PKCS1_PADDING };
    const signature = privateEncrypt(key, Buffer.concat([digestInfo, digest]));
    return { KeyId: arn, SigningAlgorithm: algorithm, Signature: signature.toString('base64') };
  }

  async publicKey(arn: string): Promise<Input> {
    const key = createPublicKey(await this.#pem(arn)).export({ format: 'der', type: 'spki' });
    return {
      KeyId: arn,
      PublicKey: key.toString('base64'),
      KeySpec: 'RSA_2048',
      KeyUsage: 'SIGN_VERIFY',
      SigningAlgorithms: [algorithm],
    };
  }

  #pem(arn: string): Promise<string> {
    const known = this.#known.get(arn) ?? this.#kept(`${this.#file}.${arn.split('/').at(-1)}.pem`);
    this.#known.set(arn, known);
    return known;
  }

  async #kept(file: string): Promise<string> {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const { privateKey } = await generate('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    writePrivately(file, privateKey);
    return privateKey;
  }
}
