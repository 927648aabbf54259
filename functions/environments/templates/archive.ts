import { Readable } from 'node:stream';
import { crc32, deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { TarError, tarEntries } from '../../tar.ts';
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

export const tarOf = async (files: ArchiveFile[]): Promise<Buffer> => {
  const archive = pack();
  for (const { name, content } of files) archive.entry({ name, mode: 0o644 }, content);
  archive.finalize();
  const parts: Buffer[] = [];
  for await (const part of archive) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const endOfDirectory = 0x06054b50;
const directoryEntry = 0x02014b50;
const localEntry = 0x04034b50;
const unixSymlink = 0o120000;

/** Files by the archive's central directory (PKWARE APPNOTE 4.3). @throws {CoderError} 400 */
export const filesInZip = (zip: Buffer): ArchiveFile[] => {
  try {
    return readZip(zip);
  } catch (error) {
    if (error instanceof CoderError) throw error;
    throw refuse('it is not a zip archive');
  }
};

const readZip = (zip: Buffer): ArchiveFile[] => {
  let end = zip.length - 22;
  while (end >= 0 && zip.readUInt32LE(end) !== endOfDirectory) end--;
  if (end < 0) throw refuse('it is not a zip archive');
  const files: ArchiveFile[] = [];
  let bytes = 0;
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n--) {
    if (zip.readUInt32LE(at) !== directoryEntry) throw refuse('its directory is damaged');
    const [method, packed, size] = [zip.readUInt16LE(at + 10), zip.readUInt32LE(at + 20), zip.readUInt32LE(at + 24)];
    const lengths = [zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt16LE(at + 32)] as const;
    const name = zip.toString('utf8', at + 46, at + 46 + lengths[0]);
    const mode = zip.readUInt32LE(at + 38) >>> 16;
    const from = zip.readUInt32LE(at + 42);
    at += 46 + lengths[0] + lengths[1] + lengths[2];
    checkName(name);
    if ((mode & 0o170000) === unixSymlink) throw refuse(`${name}: links are not allowed`);
    if (name.endsWith('/')) continue;
    bytes += size;
    if (bytes > maxUnpackedBytes || files.length >= maxFiles) throw refuse('it is too large when unpacked');
    files.push({ name: tidy(name), content: contentAt(zip, from, { method, packed, size }) });
  }
  return files;
};

const contentAt = (
  zip: Buffer,
  from: number,
  { method, packed, size }: { method: number; packed: number; size: number },
): Buffer => {
  if (zip.readUInt32LE(from) !== localEntry) throw refuse('an entry is damaged');
  const begin = from + 30 + zip.readUInt16LE(from + 26) + zip.readUInt16LE(from + 28);
  const bytes = zip.subarray(begin, begin + packed);
  const content = method === 8 ? inflateRawSync(bytes, { maxOutputLength: size + 1 }) : Buffer.from(bytes);
  if (content.length !== size || (method !== 0 && method !== 8)) throw refuse('an entry is damaged');
  return content;
};

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
