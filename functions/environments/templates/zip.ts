import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { CoderError } from '../host/errors.ts';
import { type ArchiveFile, maxFiles, maxUnpackedBytes, refuse, tidy } from './archive.ts';

/** Zip archives of templates, which browsers upload and download. */

const unixTypes = 0o170000;
const unixSymlink = 0o120000;

/** @throws {CoderError} 400 */
export const filesInZip = async (zip: Buffer): Promise<ArchiveFile[]> => {
  try {
    return await readZip(zip);
  } catch (error) {
    if (error instanceof CoderError) throw error;
    throw refuse(`it is not a zip archive: ${(error as Error).message}`);
  }
};

/** The sizes in the directory are reliable: the reader fails on an entry that unpacks to another size. */
const readZip = async (zip: Buffer): Promise<ArchiveFile[]> => {
  const archive = await fromBufferPromise(zip);
  const files: ArchiveFile[] = [];
  let bytes = 0;
  for await (const entry of archive.eachEntry()) {
    const { fileName, externalFileAttributes, uncompressedSize } = entry;
    if (((externalFileAttributes >>> 16) & unixTypes) === unixSymlink) {
      throw refuse(`${fileName}: links are not allowed`);
    }
    if (fileName.endsWith('/')) continue;
    bytes += uncompressedSize;
    if (bytes > maxUnpackedBytes || files.length >= maxFiles) throw refuse('it is too large when unpacked');
    const content = await buffer(await archive.openReadStreamPromise(entry));
    files.push({ name: tidy(fileName), content });
  }
  return files;
};

const endOfDirectory = 0x06054b50;

export const zipOf = (files: ArchiveFile[]): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content } of files) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0800, 2);
    common.writeUInt16LE(8, 4);
    // 1980-01-01, the earliest date in a zip file.
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((0o100644 << 16) >>> 0, 6);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, path]));
    parts.push(local);
    at += local.length;
  }
  const whole = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(endOfDirectory, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(whole.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, whole, end]);
};
