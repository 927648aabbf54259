/** Armor and packets of OpenPGP (RFC 9580), as far as keys and detached signatures need them. */

const armor =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[\w-]+: .*\r?\n)*\r?\n([\w+/=\s]+?)(?:\r?\n=[\w+/]{4})?\r?\n-----END PGP PUBLIC KEY BLOCK-----/;

export interface Packet {
  tag: number;
  body: Buffer;
}

/** Bytes of an ASCII-armored public key; undefined without armor. Its checksum is ignored. */
export const readArmoredKey = (text: string): Buffer | undefined => {
  const [, encoded] = armor.exec(text) ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded.replaceAll(/\s/g, ''), 'base64');
};

/** All packets, up to the first with a missing or invalid length. */
export const readPackets = (bytes: Buffer): Packet[] => {
  const packets: Packet[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const head = rest[0] as number;
    if ((head & 0x80) === 0) break;
    const isNew = (head & 0x40) !== 0;
    const { start, length } = isNew ? newLength(rest) : oldLength(rest, head & 0x03);
    if (length === 0 || start + length > rest.length) break;
    packets.push({ tag: isNew ? head & 0x3f : (head >> 2) & 0x0f, body: rest.subarray(start, start + length) });
    rest = rest.subarray(start + length);
  }
  return packets;
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
