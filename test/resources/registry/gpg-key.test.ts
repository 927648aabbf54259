import { generateKey } from 'openpgp';
import { expect, it } from 'vitest';
import { readPublicKey } from '#resources/registry/providers/gpg-key.ts';

/** Public keys with headers of every form (RFC 9580: packet headers). */

const { publicKey } = await generateKey({
  type: 'rsa',
  rsaBits: 2048,
  userIDs: [{ name: 'Acme' }],
  format: 'object',
});
const body: Buffer = Buffer.from((publicKey.keyPacket as unknown as { write(): Uint8Array }).write());
const id = publicKey.getKeyID().toHex().toUpperCase();

const armored = (...parts: (number[] | Uint8Array)[]): string => {
  const text = Buffer.concat(parts.map((part) => Buffer.from(part))).toString('base64');
  return `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${text}\n-----END PGP PUBLIC KEY BLOCK-----`;
};
const bytesOf = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, i) => (value >> (8 * (bytes - 1 - i))) & 0xff);
/** Headers of a public key with a body of this length. */
const headers: Record<string, (length: number) => number[]> = {
  'an old header of two octets': (length) => [0x99, ...bytesOf(length, 2)],
  'an old header of four octets': (length) => [0x9a, ...bytesOf(length, 4)],
  'a new header of two octets': (length) => [0xc6, ((length - 192) >> 8) + 192, (length - 192) & 0xff],
  'a new header of five octets': (length) => [0xc6, 0xff, ...bytesOf(length, 4)],
};

it.each(Object.entries(headers))('the id of a key is read behind %s', (_, header) => {
  expect(readPublicKey(armored(header(body.length), body))).toEqual({ keyId: id });
  expect(readPublicKey(armored(header(body.length), body, [0xcd, 1, 65])), 'followed by a user').toEqual({ keyId: id });
  expect(readPublicKey(armored(header(body.length + 1), body)).error).toBe('must begin with a PGP public key');
});

const small = [4, 0, 0, 0, 0, 1];

it.each<[string, number[], string | undefined]>([
  ['an old header of one octet', [0x98, small.length, ...small], undefined],
  ['a new header of one octet', [0xc6, small.length, ...small], undefined],
  ['DSA', [0x98, 6, 4, 0, 0, 0, 0, 17], undefined],
  ['another algorithm', [0x98, 6, 4, 0, 0, 0, 0, 22], 'must be an RSA or DSA key: Terraform supports no others'],
  ['version 3', [0x98, 6, 3, 0, 0, 0, 0, 1], 'must be a version 4 key'],
  ['no content', [0x98, 0], 'must begin with a PGP public key'],
  ['a length that is cut off', [0x99, 1], 'must begin with a PGP public key'],
  ['a length in parts', [0xc6, 0xe0, 0, 4, ...Array(8400).fill(1)], 'must begin with a PGP public key'],
  ['an indefinite length', [0x9b, ...small], 'must begin with a PGP public key'],
  ['another packet', [0x9d, 0, 6, ...small], 'must begin with a PGP public key'],
  ['no packet', [0x18, 6, ...small], 'must begin with a PGP public key'],
])('a key with %s is read as far as Terraform can use it', (_, bytes, error) => {
  expect(readPublicKey(armored(bytes)).error).toBe(error);
});

it('text without armor is refused', () => {
  expect(readPublicKey('a key').error).toBe('must be an ASCII-armored PGP public key');
});
