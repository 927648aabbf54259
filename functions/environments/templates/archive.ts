import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { TarError, tarEntries } from '../../tar.ts';
import { tarBlocks } from '../../tar-writer.ts';
import { CoderError } from '../host/errors.ts';

/** Archives of templates: tar as it came, or made of a zip. What could leave its folder is not taken. */

export interface ArchiveFile {
  name: string;
  content: Buffer;
}

/** As the runner takes at most (runner-api/job.ts), far above what a template is. */
const maxUnpackedBytes = 64 * 1024 * 1024;
const maxFiles = 10_000;

const refuse = (detail: string): CoderError => new CoderError(400, 'The archive is not valid.', detail);

const checkName = (name: string): void => {
  const parts = name.split('/');
  if (name.startsWith('/') || /^[a-z]:/i.test(name) || name.includes('\\') || parts.includes('..')) {
    throw refuse(`${name}: paths must stay inside the archive`);
  }
};

const tidy = (name: string): string => name.replace(/^(\.\/)+/, '');

/** Type of the entry at a header: links are told from files by it (POSIX.1-2024 pax: ustar). */
const linkTypes = new Set(['1', '2']);
const block = 512;

/** Links are refused here, since what reads entries tells only files from the rest. */
const checkLinks = (tar: Buffer): void => {
  for (let at = 0; at + block <= tar.length; ) {
    const header = tar.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) return;
    const type = String.fromCharCode(header[156] ?? 0);
    const name = header.toString('utf8', 0, 100).replace(/\0.*$/s, '');
    if (linkTypes.has(type)) throw refuse(`${name}: links are not allowed`);
    const size = Number.parseInt(header.toString('latin1', 124, 136).replace(/[\0 ]+$/, '') || '0', 8);
    if (!Number.isSafeInteger(size)) throw refuse('a header has no valid size');
    at += block + Math.ceil(size / block) * block;
  }
};

/** @throws {CoderError} 400 */
export const filesInTar = async (tar: Buffer): Promise<ArchiveFile[]> => {
  checkLinks(tar);
  const files: ArchiveFile[] = [];
  let bytes = 0;
  try {
    for await (const entry of tarEntries(Readable.from([tar]))) {
      checkName(entry.name);
      if (!entry.isFile) continue;
      const content = await entry.content();
      bytes += content.length;
      if (bytes > maxUnpackedBytes || files.length >= maxFiles) throw refuse('it is too large when unpacked');
      files.push({ name: tidy(entry.name), content });
    }
  } catch (error) {
    if (error instanceof TarError) throw refuse(`it is not a tar archive: ${error.message}`);
    throw error;
  }
  return files;
};

export const tarOf = (files: ArchiveFile[]): Buffer =>
  Buffer.concat(tarBlocks(files.map(({ name, content }) => ({ path: name, bytes: content }))));

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

/** Sizes in the directory hold: an entry that unpacks to anything else is an error of the reader's. */
const readZip = async (zip: Buffer): Promise<ArchiveFile[]> => {
  const archive = await fromBufferPromise(zip, { lazyEntries: true });
  const files: ArchiveFile[] = [];
  let bytes = 0;
  for await (const entry of archive.eachEntry()) {
    const { fileName, externalFileAttributes, uncompressedSize } = entry;
    checkName(fileName);
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
    // 1980-01-01, the first day there is.
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

export const compress = (tar: Buffer): Buffer<ArrayBuffer> => gzipSync(tar) as Buffer<ArrayBuffer>;

export const decompress = (archive: Buffer): Buffer => gunzipSync(archive, { maxOutputLength: 2 * maxUnpackedBytes });
