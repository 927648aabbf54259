import { createHash } from 'node:crypto';
import { readArmoredKey, readPackets } from '#platform/formats/openpgp.ts';

/**
 * The id of an ASCII-armored public key (RFC 9580: public-key packets, key ids). The platform verifies nothing with it;
 * Terraform checks signatures against the key named by the registry.
 */

const publicKeyTag = 6;
/** RSA for encryption and signing, RSA for signing only, DSA. */
const algorithms = [1, 3, 17];

export type ReadKey = { keyId: string; error?: undefined } | { error: string; keyId?: undefined };

/** @returns the key id as 16 upper-case hexadecimal digits, or an error for users */
export const readPublicKey = (asciiArmor: string): ReadKey => {
  const bytes = readArmoredKey(asciiArmor);
  if (!bytes) return { error: 'must be an ASCII-armored PGP public key' };
  const [packet] = readPackets(bytes);
  if (packet?.tag !== publicKeyTag) return { error: 'must begin with a PGP public key' };
  const { body } = packet;
  if (body[0] !== 4) return { error: 'must be a version 4 key' };
  if (!algorithms.includes(body[5] ?? 0)) return { error: 'must be an RSA or DSA key: Terraform supports no others' };
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  const fingerprint = createHash('sha1').update(head).update(body).digest('hex');
  return { keyId: fingerprint.slice(-16).toUpperCase() };
};
