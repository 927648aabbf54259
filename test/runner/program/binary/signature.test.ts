import { sign as cryptoSign, generateKeyPairSync } from 'node:crypto';
import { createMessage, generateKey, type PrivateKey, sign } from 'openpgp';
import { describe, expect, it } from 'vitest';
import { isSignedBy } from '#runner/program/binary/signature.ts';

/** Signatures by an independent implementation of OpenPGP. */

const newKey = (kind: object = { type: 'rsa', rsaBits: 2048 }) =>
  generateKey({ userIDs: [{ name: 'test' }], format: 'object', subkeys: [{ sign: true }], ...kind });
const [ours, stranger] = await Promise.all([newKey(), newKey()]);
const armored = ours.publicKey.armor();
const content = Buffer.from('0123  terraform_1.2.3_linux_amd64.zip\n');

const signed = async (signer: PrivateKey, options: object = {}): Promise<Buffer> => {
  const message = await createMessage({ binary: content });
  const signature = await sign({ message, signingKeys: signer, detached: true, format: 'binary', ...options });
  return Buffer.from(signature as unknown as Uint8Array);
};

/** A key and a signature assembled by hand, because the library makes none with SHA-1. */
const byHand = (hash: string, number: number) => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const short = (value: number) => [value >> 8, value & 0xff];
  const integer = (value: Buffer) => {
    const bits = value.length * 8 - Math.clz32(value[0] ?? 0) + 24;
    return Buffer.concat([Buffer.from(short(bits)), value]);
  };
  const packet = (header: number, ...parts: (number[] | Buffer)[]) => {
    const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return Buffer.concat([Buffer.from([header, ...short(body.length)]), body]);
  };
  const integers = [n, e].map((part) => integer(Buffer.from(part, 'base64url')));
  const key = packet(0x99, [4, 0, 0, 0, 0, 1], ...integers).toString('base64');
  const head = [4, 0, 1, number, 0, 0];
  const value = cryptoSign(hash, Buffer.concat([content, Buffer.from([...head, 4, 0xff, 0, 0, 0, 6])]), privateKey);
  const leading = value.findIndex((byte) => byte !== 0);
  return {
    key: `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${key}\n-----END PGP PUBLIC KEY BLOCK-----`,
    signature: packet(0x89, head, [0, 0], [0, 0], integer(value.subarray(leading))),
  };
};

describe('a signature', () => {
  it.each([
    ['the primary key', ours.privateKey.getKeyID()],
    ['a subkey', ours.privateKey.getSubkeys()[0]?.getKeyID()],
  ])('by %s is accepted for exactly its content', async (_, id) => {
    const signature = await signed(ours.privateKey, { signingKeyIDs: id });
    expect(isSignedBy(armored, content, signature)).toBe(true);
    expect(isSignedBy(armored, Buffer.concat([content, Buffer.from('\n')]), signature)).toBe(false);
    expect(isSignedBy(stranger.publicKey.armor(), content, signature)).toBe(false);
  });

  it('is accepted beside one by another key', async () => {
    const both = Buffer.concat([await signed(stranger.privateKey), await signed(ours.privateKey)]);
    expect(isSignedBy(armored, content, both)).toBe(true);
  });

  it('is rejected with a byte of it changed, and cut off', async () => {
    const signature = await signed(ours.privateKey);
    const body = 3;
    const unhashed = body + 6 + signature.readUInt16BE(body + 4);
    // Not signed: other subpackets, two bytes of the digest that only reject early, the integer's length in bits.
    const integer = unhashed + 2 + signature.readUInt16BE(unhashed) + 4;
    for (let at = body; at < signature.length; at++) {
      expect(isSignedBy(armored, content, signature.subarray(0, at)), `${at} bytes`).toBe(false);
      if (at >= unhashed && at < integer) continue;
      const changed = Buffer.from(signature);
      changed[at] = (changed[at] as number) ^ 1;
      expect(isSignedBy(armored, content, changed), `byte ${at}`).toBe(false);
    }
  });

  it('of a text, by a key of another kind, or with no key is rejected', async () => {
    const message = await createMessage({ text: content.toString() });
    expect(isSignedBy(armored, content, await signed(ours.privateKey, { message }))).toBe(false);
    const { privateKey, publicKey } = await newKey({ type: 'curve25519' });
    expect(isSignedBy(publicKey.armor(), content, await signed(privateKey))).toBe(false);
    expect(isSignedBy('no key', content, await signed(ours.privateKey))).toBe(false);
  });

  it.each([
    ['sha256', 8, true],
    ['sha384', 9, true],
    ['sha512', 10, true],
    ['sha1', 2, false],
  ])('with %s, number %i, is accepted: %s', (hash, number, isAccepted) => {
    const { key, signature } = byHand(hash, number);
    expect(isSignedBy(key, content, signature)).toBe(isAccepted);
  });
});
