import { posix } from 'node:path';
import { createGunzip } from 'node:zlib';
import { TarError, tarEntries } from '#platform/formats/tar.ts';
import type { SourceFile } from './engine.ts';
import { PolicySetError } from './policy-blocks.ts';

/** The archive of a policy set version, a gzip tar. It is never written to disk; only text files are read. */

export const archiveLimits = { packedBytes: 10 * 1024 * 1024, unpackedBytes: 50 * 1024 * 1024, files: 2000 };
/** `files`: entries below the root. */
export type ArchiveLimits = typeof archiveLimits;

/** Text files that an engine reads; tests of policies are left out. */
const sourceFile = /(^|\/)(policies\.hcl|sentinel\.hcl|data\.(json|ya?ml))$|\.(rego|sentinel)$/;
const tests = /_test\.rego$/;

const inside = (name: string): string => {
  if (name.startsWith('/') || name.includes('\0') || name.split(/[/\\]/).includes('..')) {
    throw new PolicySetError(
      `The archive has the entry "${name}", which is outside the policy set. Pack the files by relative paths (tar -C).`,
    );
  }
  return posix.normalize(name).replace(/\/$/, '');
};

const readable = (error: NodeJS.ErrnoException): Error => {
  if (error instanceof TarError || error.code === 'Z_DATA_ERROR' || error.code === 'Z_BUF_ERROR') {
    return new PolicySetError(
      `The archive cannot be read (${error.message}): upload a gzip-compressed tar file (tar -czf).`,
    );
  }
  return error;
};

const tooLarge = (bytes: number): PolicySetError =>
  new PolicySetError(`The archive unpacks to more than ${bytes / 1024 / 1024} MiB. Pack only policies.`);

const text = (path: string, content: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new PolicySetError(`${path} is not UTF-8 text: save it as UTF-8.`);
  }
};

/**
 * The files of a policy set by their paths below `root`, in the order of paths. Of two equal names, the later one
 * wins. Links are ignored: their targets may not be in the archive.
 * @param root the set's `policies-path`; empty for the whole archive
 * @throws {PolicySetError} with the remedy
 */
export const readArchive = async (
  archive: Buffer,
  root: string,
  { unpackedBytes, files: maxFiles }: ArchiveLimits = archiveLimits,
): Promise<SourceFile[]> => {
  const files = new Map<string, string>();
  const base = inside(root).replace(/^\.$/, '');
  let entries = 0;
  let unpacked = 0;
  let read = 0;
  const bounded = async function* () {
    const source = createGunzip();
    source.end(archive);
    for await (const part of source as AsyncIterable<Buffer>) {
      unpacked += part.length;
      if (unpacked > unpackedBytes) {
        throw tooLarge(unpackedBytes);
      }
      yield part;
    }
  };
  try {
    for await (const { name, isFile, size, content } of tarEntries(bounded())) {
      const path = inside(name);
      const local = base === '' ? path : path.startsWith(`${base}/`) ? path.slice(base.length + 1) : undefined;
      if (local !== undefined && ++entries > maxFiles) {
        throw new PolicySetError(`The archive has more than ${maxFiles} entries. Pack only policies.`);
      }
      if (!isFile || !local || !sourceFile.test(local) || tests.test(local)) continue;
      read += size;
      if (read > archiveLimits.unpackedBytes) throw tooLarge(archiveLimits.unpackedBytes);
      files.set(local, text(path, await content()));
    }
  } catch (error) {
    throw readable(error as NodeJS.ErrnoException);
  }
  return [...files].map(([path, content]) => ({ path, content })).sort((a, b) => (a.path < b.path ? -1 : 1));
};
