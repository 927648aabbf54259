import { type Exceeded, gunzip, isArchiveFault, type TarEntry, tarEntries } from '#platform/formats/tar.ts';
import { getLargeObject, putObject } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { contentOfFolder, type ModuleContent } from './content.ts';
import type { Module } from './records.ts';

/**
 * Reads a module's archive once, when it is accepted: inputs, outputs, resources and providers of the module and of
 * those in `modules/` and `examples/`. The uploader is not trusted, so everything has a limit.
 */
const bounds = {
  packedBytes: 100 * 1024 * 1024,
  unpackedBytes: 1024 * 1024 * 1024,
  entries: 50_000,
  /** Limit of one file. */
  fileBytes: 1024 * 1024,
  /** Limit of all files together. */
  readBytes: 16 * 1024 * 1024,
  milliseconds: 15_000,
};

export interface Details {
  root: ModuleContent;
  submodules: ModuleContent[];
  examples: ModuleContent[];
}

/** Reason for rejecting the archive, shown to users. */
class ArchiveError extends Error {
  override name = 'ArchiveError';
}

const tooMuch = (exceeded: Exceeded): never => {
  if (exceeded === 'bytes') throw new ArchiveError('The archive has more than 1 GiB unpacked.');
  throw new ArchiveError('The archive takes too long to unpack. Leave out files that do not belong to the module.');
};

/** @throws {ArchiveError} for a path that leads out of the archive */
const pathOf = (name: string): string => {
  const path = name.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  const shown = path.slice(0, 100);
  if (path.startsWith('/') || path.includes('\\'))
    throw new ArchiveError(`${shown}: paths must be relative, with "/".`);
  if (path.split('/').includes('..')) throw new ArchiveError(`${shown}: paths must not contain "..".`);
  return path;
};

/** The root, `modules/x` or `examples/x`; undefined for deeper and other folders. */
const folderOf = (path: string): string | undefined => {
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  return folder === '' || /^(modules|examples)\/[^/]+$/.test(folder) ? folder : undefined;
};

const isRead = (path: string): boolean => /\.tf(\.json)?$/.test(path) || /(^|\/)readme\.md$/i.test(path);

/** Files of the module to read, by folder and name. @throws {ArchiveError} @throws {TarError} */
const filesIn = async (archive: Buffer, sourceDirectory: string): Promise<Map<string, Map<string, string>>> => {
  const folders = new Map<string, Map<string, string>>();
  const above = sourceDirectory && `${sourceDirectory}/`;
  let entries = 0;
  let read = 0;
  for await (const entry of tarEntries(
    gunzip(archive, { bytes: bounds.unpackedBytes, ms: bounds.milliseconds }, tooMuch),
  )) {
    if (++entries > bounds.entries) throw new ArchiveError(`The archive has more than ${bounds.entries} entries.`);
    const whole = pathOf(entry.name);
    if (!whole.startsWith(above)) continue;
    const path = whole.slice(above.length);
    const folder = folderOf(path);
    if (!entry.isFile || folder === undefined || !isRead(path)) continue;
    const content = await contentOf(entry, path);
    read += content.length;
    if (read > bounds.readBytes) throw new ArchiveError('The Terraform files of the archive have more than 16 MiB.');
    const files = folders.get(folder) ?? new Map<string, string>();
    folders.set(folder, files.set(path.slice(folder ? folder.length + 1 : 0), content));
  }
  return folders;
};

const contentOf = async (entry: TarEntry, path: string): Promise<string> => {
  // Checked before reading: a small archive can contain a huge file.
  if (entry.size > bounds.fileBytes) throw new ArchiveError(`${path.slice(0, 100)} has more than 1 MiB.`);
  return (await entry.content()).toString('utf8');
};

const detailsOf = (name: string, folders: Map<string, Map<string, string>>, sourceDirectory: string): Details => {
  const below = (parent: string) =>
    [...folders]
      .filter(([path]) => path.startsWith(`${parent}/`))
      .map(([path, files]) => contentOfFolder(path, path.split('/')[1] as string, files));
  const root = contentOfFolder('', name, folders.get('') ?? new Map());
  if (root.empty) {
    throw new ArchiveError(
      sourceDirectory
        ? `There is no Terraform configuration in ${sourceDirectory}, the module's source-directory.`
        : 'There is no Terraform configuration at the root of the archive. Pack the files themselves, not the folder they are in.',
    );
  }
  return { root, submodules: below('modules'), examples: below('examples') };
};

const isOfArchive = (error: unknown): boolean => error instanceof ArchiveError || isArchiveFault(error);

/**
 * Stores the details of the archive, or returns the reason for rejecting it. 1 read and 1 write of S3.
 * @param digest hash of the archive; `id` is the version's
 */
export const ingest = async (
  archiveKey: string,
  { name, sourceDirectory = '' }: Pick<Module, 'name' | 'sourceDirectory'>,
  { id, digest }: { id: string; digest: string },
): Promise<{ detailsKey: string; error?: undefined } | { error: string; detailsKey?: undefined }> => {
  const archive = await getLargeObject(archiveKey, bounds.packedBytes);
  if (!Buffer.isBuffer(archive)) return { error: 'The archive was not found, or is larger than 100 MiB.' };
  try {
    const details = detailsOf(name, await filesIn(archive, sourceDirectory), sourceDirectory);
    const detailsKey = objects.moduleDetails(id, digest);
    await putObject(detailsKey, JSON.stringify(details), 'application/json');
    return { detailsKey };
  } catch (error) {
    if (!isOfArchive(error)) throw error;
    const why = error instanceof ArchiveError ? error.message : 'The upload is not a gzip-compressed tar archive.';
    return { error: why };
  }
};
