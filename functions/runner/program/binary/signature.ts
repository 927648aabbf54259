import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readArmoredKey, readPackets } from '#platform/formats/openpgp.ts';

/**
 * Detached OpenPGP signatures (RFC 9580, version 4, RSA) by a key that is pinned in this program, as HashiCorp signs
 * its releases. Only the key material counts: a pinned key needs neither self-signatures nor an expiry date to be
 * trusted. HashiCorp extends its keys in place.
 */

const tags = { signature: 2, publicKey: 6, publicSubkey: 14 };
/** RSA for encryption and signing, RSA for signing only. */
const rsa = [1, 3];
/** By their OpenPGP numbers. SHA-1 is missing on purpose. */
const hashes: Record<number, string> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' };
const binarySignature = 0;

/** A multiprecision integer: its length in bits, then its bytes. */
const readInteger = (bytes: Buffer): { value: Buffer; rest: Buffer } => {
  const end = 2 + Math.ceil(bytes.readUInt16BE(0) / 8);
  return { value: bytes.subarray(2, end), rest: bytes.subarray(end) };
};

/** The RSA keys of a key block: the primary key and its subkeys. */
const rsaKeys = (armoredKey: string): KeyObject[] =>
  readPackets(readArmoredKey(armoredKey) ?? Buffer.alloc(0)).flatMap(({ tag, body }) => {
    const isKey = tag === tags.publicKey || tag === tags.publicSubkey;
    if (!isKey || body[0] !== 4 || !rsa.includes(body[5] ?? 0)) return [];
    const n = readInteger(body.subarray(6));
    const e = readInteger(n.rest);
    const jwk = { kty: 'RSA', n: n.value.toString('base64url'), e: e.value.toString('base64url') };
    return [createPublicKey({ key: jwk, format: 'jwk' })];
  });

const isSigned = (content: Buffer, body: Buffer, keys: KeyObject[]): boolean => {
  const [version, type, algorithm = 0, hash = 0] = body;
  const digest = hashes[hash];
  if (version !== 4 || type !== binarySignature || !rsa.includes(algorithm) || !digest) return false;
  // The signature covers its own fields up to the hashed subpackets, and their length (RFC 9580, 5.2.4).
  const hashedEnd = 6 + body.readUInt16BE(4);
  const trailer = Buffer.from([4, 0xff, 0, 0, 0, 0]);
  trailer.writeUInt32BE(hashedEnd, 2);
  const signed = Buffer.concat([content, body.subarray(0, hashedEnd), trailer]);
  // After the unhashed subpackets, and two bytes of the digest for a fast rejection.
  const { value } = readInteger(body.subarray(hashedEnd + 2 + body.readUInt16BE(hashedEnd) + 2));
  return keys.some((key) => {
    // OpenPGP omits leading zeros.
    const bytes = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    const padded = Buffer.concat([Buffer.alloc(Math.max(0, bytes - value.length)), value]);
    return verify(digest, signed, key, padded);
  });
};

/** Whether the primary key or a subkey of `armoredKey` signed exactly these bytes. Malformed signatures are none. */
export const isSignedBy = (armoredKey: string, content: Buffer, signature: Buffer): boolean => {
  const keys = rsaKeys(armoredKey);
  return readPackets(signature).some(({ tag, body }) => {
    if (tag !== tags.signature) return false;
    try {
      return isSigned(content, body, keys);
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  });
};
