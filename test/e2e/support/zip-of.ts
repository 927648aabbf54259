import { crc32 } from 'node:zlib';

/** A zip archive of one executable file, stored as it is (PKWARE: APPNOTE, 4.3). */
export const zipOf = (name: string, data: Buffer): Buffer => {
  const file = Buffer.from(name);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt32LE(crc32(data), 10);
  common.writeUInt32LE(data.length, 14);
  common.writeUInt32LE(data.length, 18);
  common.writeUInt16LE(file.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, file, data]);
  const madeBy = Buffer.from([20, 3]);
  const more = Buffer.alloc(14);
  // Unix permissions.
  more.writeUInt32LE((0o100755 << 16) >>> 0, 6);
  const entry = Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, common, more, file]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, entry, end]);
};
