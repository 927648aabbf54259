import {
  createMessage,
  enums,
  type Key,
  type LiteralDataPacket,
  readKey,
  readSignature,
  type SignaturePacket,
  type Subkey,
} from 'openpgp';

/**
 * Checks a detached OpenPGP signature against a key that is pinned in this program. Only the key material counts: a
 * pinned key needs neither self-signatures nor an expiry date to be trusted. HashiCorp extends its keys in place, and
 * the library's own rules (valid at the time of signing, by the newest self-signature) reject every release older than
 * our copy.
 * @throws {Error} unless one of the key's parts signed exactly these bytes
 */
export const verifySignature = async (
  content: Uint8Array,
  signature: Uint8Array,
  armoredKey: string,
): Promise<void> => {
  const key = await readKey({ armoredKey });
  const parts: (Key | Subkey)[] = [key, ...key.getSubkeys()];
  const message = await createMessage({ binary: content });
  const literal = message.packets.findPacket(enums.packet.literalData) as LiteralDataPacket;
  const { packets } = await readSignature({ binarySignature: signature });
  for (const packet of packets as unknown as SignaturePacket[]) {
    const signer = parts.find((part) => part.getKeyID().equals(packet.issuerKeyID as ReturnType<Key['getKeyID']>));
    if (!signer) continue;
    // Throws if the signature does not match.
    await packet.verify(signer.keyPacket, enums.signature.binary, literal, new Date(), true);
    return;
  }
  throw new Error('it is not signed by the expected key');
};
