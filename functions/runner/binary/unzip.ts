import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';

/**
 * Extracts one file of a zip archive; all others are left alone, so that no name in it matters.
 * @throws {Error} when the archive has no such file or is damaged
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
