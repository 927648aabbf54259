import { createHash } from 'node:crypto';

/**
 * The id of an ASCII-armored public key (RFC 9580: ASCII armor, packet headers, public-key packets, key ids). The
 * platform verifies nothing with it; Terraform checks signatures against the key named by the registry. A complete
 * OpenPGP library would more than double the bundle.
 */

const armor =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[\w-]+: .*\r?\n)*\r?\n([\w+/=\s]+?)(?:\r?\n=[\w+/]{4})?\r?\n-----END PGP PUBLIC KEY BLOCK-----/;

interface Packet {
  tag: number;
  body: Buffer;
}

/** The first packet; undefined when it is missing or has an invalid length. */
const firstPacket = (bytes: Buffer): Packet | undefined => {
  const head = bytes[0] ?? 0;
  if ((head & 0x80) === 0) return undefined;
  const isNew = (head & 0x40) !== 0;
  const tag = isNew ? head & 0x3f : (head >> 2) & 0x0f;
  const { start, length } = isNew ? newLength(bytes) : oldLength(bytes, head & 0x03);
  if (length === 0 || start + length > bytes.length) return undefined;
  return { tag, body: bytes.subarray(start, start + length) };
};

const newLength = (bytes: Buffer): { start: number; length: number } => {
  const first = bytes[1] ?? 0;
  if (first < 192) return { start: 2, length: first };
  if (first < 224 && bytes.length > 2) return { start: 3, length: ((first - 192) << 8) + (bytes[2] as number) + 192 };
  return first === 255 && bytes.length > 5 ? { start: 6, length: bytes.readUInt32BE(2) } : { start: 0, length: 0 };
};

const oldLength = (bytes: Buffer, kind: number): { start: number; length: number } => {
  if (kind === 0 && bytes.length > 1) return { start: 2, length: bytes[1] as number };
  if (kind === 1 && bytes.length > 2) return { start: 3, length: bytes.readUInt16BE(1) };
  return kind === 2 && bytes.length > 4 ? { start: 5, length: bytes.readUInt32BE(1) } : { start: 0, length: 0 };
};

const publicKeyTag = 6;
/** RSA for encryption and signing, RSA for signing only, DSA. */
const algorithms = [1, 3, 17];

export type ReadKey = { keyId: string; error?: undefined } | { error: string; keyId?: undefined };

/** @returns the key id as 16 upper-case hexadecimal digits, or an error for users */
export const readPublicKey = (asciiArmor: string): ReadKey => {
  const [, encoded] = armor.exec(asciiArmor) ?? [];
  if (encoded === undefined) return { error: 'must be an ASCII-armored PGP public key' };
  const packet = firstPacket(Buffer.from(encoded.replaceAll(/\s/g, ''), 'base64'));
  if (packet?.tag !== publicKeyTag) return { error: 'must begin with a PGP public key' };
  const { body } = packet;
  if (body[0] !== 4) return { error: 'must be a version 4 key' };
  if (!algorithms.includes(body[5] ?? 0)) return { error: 'must be an RSA or DSA key: Terraform supports no others' };
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  const fingerprint = createHash('sha1').update(head).update(body).digest('hex');
  return { keyId: fingerprint.slice(-16).toUpperCase() };
};
