import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';

/**
 * Extracts one file of a zip archive. Ignores all other entries, so their names cannot cause harm.
 * @throws {Error} if the archive has no such file or is damaged
 */
export const unzipFile = async (archive: string, name: string, target: string, mode: number): Promise<void> => {
  const zip = await openPromise(archive, { lazyEntries: true });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName !== name) continue;
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { mode, flags: 'wx' }));
      return;
    }
  } finally {
    zip.close();
  }
  throw new Error(`the archive has no file ${name}`);
};

const typeBits = 0o170000;
const regularFile = 0o100000;
const executable = 0o111;
const nameForm = /^(?!\.{1,2}(\/|$))[^/\\\0]+(\/(?!\.{1,2}(\/|$))[^/\\\0]+)*$/;

/**
 * Extracts all files, readable for all users and writable for none.
 * @throws {Error} if the archive is damaged, contains anything but plain files, or exceeds the limits when unpacked
 */
export const unzipAll = async (
  archive: string,
  target: string,
  limits: { files: number; bytes: number },
): Promise<void> => {
  const zip = await openPromise(archive, { lazyEntries: true });
  let [files, bytes] = [0, 0];
  try {
    for await (const entry of zip.eachEntry()) {
      const { fileName, uncompressedSize, externalFileAttributes } = entry;
      if (fileName.endsWith('/')) continue;
      const mode = externalFileAttributes >>> 16;
      const type = mode & typeBits;
      if (!nameForm.test(fileName) || (type !== 0 && type !== regularFile)) {
        throw new Error(`the archive has ${JSON.stringify(fileName)}, which is not a regular file`);
      }
      files += 1;
      bytes += uncompressedSize;
      if (files > limits.files || bytes > limits.bytes) throw new Error('the archive is too large when unpacked');
      const path = join(target, fileName);
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
      // yauzl fails if an entry has more bytes than it announces.
      const how = { mode: mode & executable ? 0o555 : 0o444, flags: 'wx' };
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, how));
    }
  } finally {
    zip.close();
  }
};
