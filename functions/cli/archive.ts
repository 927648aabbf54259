import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { createGzip } from 'node:zlib';
import { type Pack, pack } from 'tar-stream';

const ignored = (name: string): boolean =>
  name === '.git' ||
  name.startsWith('.git/') ||
  (/^\.terraform(\/|$)/.test(name) && !/^\.terraform(\/modules.*)?$/.test(name));

const addFolder = async (archive: Pack, root: string, folder: string): Promise<void> => {
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => a.name.localeCompare(b.name))) {
    const path = join(folder, entry.name);
    const name = relative(root, path);
    if (ignored(name)) continue;
    if (entry.isDirectory()) await addFolder(archive, root, path);
    else if (entry.isFile()) archive.entry({ name, mode: (await stat(path)).mode }, await readFile(path));
  }
};

const gzipped = async (archive: Pack): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of archive.pipe(createGzip())) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

/** A folder as a configuration archive (gzip tar), without `.git` and `.terraform` except its modules. */
export const packFolder = async (folder: string): Promise<Buffer> => {
  const archive = pack();
  const done = gzipped(archive);
  await addFolder(archive, folder, folder);
  archive.finalize();
  return done;
};

/** Files given by name as a configuration archive. */
export const packFiles = (files: Record<string, string>): Promise<Buffer> => {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content);
  archive.finalize();
  return gzipped(archive);
};
