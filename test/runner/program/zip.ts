import { crc32, deflateRawSync } from 'node:zlib';

/** A zip of one file. @param mode its Unix permissions */
export const zip = (name: string, content: Buffer, mode = 0): Buffer => {
  // Providers have 20 MB, and time counts, not size.
  const packed = deflateRawSync(content, { level: 1 });
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(8, 4);
  common.writeUInt32LE(crc32(content), 10);
  common.writeUInt32LE(packed.length, 14);
  common.writeUInt32LE(content.length, 18);
  common.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed]);
  const attributes = Buffer.alloc(14);
  // Mode of a regular file created on Unix.
  if (mode) attributes.writeUInt32LE(((0o100000 | mode) << 16) >>> 0, 6);
  const central = Buffer.concat([
    Buffer.from(mode ? 'PK\u0001\u0002\u0014\u0003' : 'PK\u0001\u0002\u0014\u0000'),
    common,
    attributes,
    Buffer.from(name),
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 0, 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
};
