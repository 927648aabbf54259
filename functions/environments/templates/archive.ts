import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { TarError, tarEntries } from '#platform/formats/tar.ts';
import { tarBlocks } from '#platform/formats/tar-writer.ts';
import { CoderError } from '../host/errors.ts';

/**
 * Archives of templates: tar files, also converted from zip (zip.ts). Entries that could leave the folder are
 * rejected.
 */

export interface ArchiveFile {
  name: string;
  content: Buffer;
}

/** The runner's maximum (runner/api/job.ts), far above the size of a template. */
export const maxUnpackedBytes = 64 * 1024 * 1024;
export const maxFiles = 10_000;

export const refuse = (detail: string): CoderError => new CoderError(400, 'The archive is not valid.', detail);

const checkName = (name: string): void => {
  const parts = name.split('/');
  if (name.startsWith('/') || /^[a-z]:/i.test(name) || name.includes('\\') || parts.includes('..')) {
    throw refuse(`${name}: paths must stay inside the archive`);
  }
};

export const tidy = (name: string): string => name.replace(/^(\.\/)+/, '');

/** @throws {CoderError} 400 */
export const filesInTar = async (tar: Buffer): Promise<ArchiveFile[]> => {
  const files: ArchiveFile[] = [];
  let bytes = 0;
  try {
    for await (const entry of tarEntries(Readable.from([tar]))) {
      checkName(entry.name);
      if (entry.isLink) throw refuse(`${entry.name}: links are not allowed`);
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

export const compress = (tar: Buffer): Buffer<ArrayBuffer> => gzipSync(tar);

export const decompress = (archive: Buffer): Buffer => gunzipSync(archive, { maxOutputLength: 2 * maxUnpackedBytes });
